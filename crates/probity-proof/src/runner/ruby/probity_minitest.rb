# Tells what happens to each test as it happens, a line of JSON each.
require "json"
require "minitest"

module Minitest
  class ProbityReporter < AbstractReporter
    def initialize
      super
      @file = File.open(ENV.fetch("PROBITY_REPORT"), "a")
      tell("(loaded)", "passed")
    end

    def prerecord(klass, name)
      tell("#{klass.name}##{name}", "began")
    end

    def record(result)
      klass = result.respond_to?(:klass) ? result.klass : result.class.name
      failure = result.failure
      state = if result.passed? then "passed" elsif result.skipped? then "skipped" else "failed" end
      kind = failure && (failure.respond_to?(:error) ? failure.error.class.name : failure.class.name)
      tell("#{klass}##{result.name}", state, result.time, kind, failure && failure.message)
    end

    private

    def tell(name, state, seconds = nil, kind = nil, message = nil)
      line = { event: "test", test: name, state: state, seconds: seconds, kind: kind,
               message: message.to_s.scrub[0, 4096] }
      @file.puts(JSON.generate(line))
      @file.flush
    end
  end

  def self.plugin_probity_init(_options)
    reporter << ProbityReporter.new
  end

  extensions << "probity"
end
