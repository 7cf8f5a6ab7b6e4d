// A reporter for mocha: one JSON object a line for each test, and for a file that did not load.
const { appendFileSync, realpathSync } = require('node:fs');
const { relative, resolve } = require('node:path');

const { PROBITY_REPORT: report, PROBITY_ROOT: root, PROBITY_FILES: named } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const real = (file) => {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
};
// A file of tests may end the process while it is loaded, without an error.
let ended = false;
const { exit } = process;
process.exit = (code) => {
  if (!ended) tell({ event: 'left' });
  exit.call(process, code);
};
const wanted = new Set(JSON.parse(named ?? '[]').map(real));

// Mocha loads this before it loads a file of tests, and one that does not load would end it. Its
// settings may name files beside those that we name.
const loaded = Object.values(require.cache).find(({ filename }) =>
  /[\\/]mocha[^\\/]*[\\/]lib[\\/]mocha\.c?js$/.test(filename ?? ''));
const prototype = loaded?.exports?.prototype;

const isSetup = (mocha, file) => {
  const words = process.argv.flatMap((word, at) =>
    word === '--file' ? [process.argv[at + 1]] : word.startsWith('--file=') ? [word.slice(7)] : []);
  return [...words, ...[mocha.options?.file ?? []].flat()].some((setup) => real(setup) === real(file));
};
const failed = (file, error) => {
  tell({ event: 'unloaded', file: relative(root, real(file)) });
  console.log(error?.stack ?? error);
};
const files = (mocha) =>
  wanted.size === 0 ? mocha.files : mocha.files.filter((file) => wanted.has(real(file)) || isSetup(mocha, file));

if (prototype) {
  const { loadFiles, loadFilesAsync } = prototype;
  prototype.loadFiles = function (done) {
    const all = (this.files = files(this));
    for (const file of all) {
      this.files = [file];
      try {
        loadFiles.call(this);
      } catch (error) {
        failed(file, error);
      }
    }
    this.files = all;
    done?.();
  };
  if (loadFilesAsync) {
    prototype.loadFilesAsync = async function (...rest) {
      const all = (this.files = files(this));
      for (const file of all) {
        this.files = [file];
        try {
          await loadFilesAsync.apply(this, rest);
        } catch (error) {
          failed(file, error);
        }
      }
      this.files = all;
    };
  }
}

// Before version 4 tests do not know the titles that they are in.
const titles = (test) => (test ? [...titles(test.parent), test.title] : []);
const fileOf = (test) => (test ? (test.file ?? fileOf(test.parent)) : undefined);

module.exports = class {
  constructor(runner) {
    const say = (test, state, error) => {
      tell({
        event: 'test',
        test: [relative(root, fileOf(test) ?? ''), ...titles(test).filter(Boolean)].join(' > '),
        state,
        seconds: (test.duration ?? 0) / 1000,
        kind: error?.name && String(error.name),
        message: String(error?.stack ?? '').split('\n    at ')[0],
      });
      if (error) console.log(`${test.fullTitle()}: ${error.stack ?? error}`);
    };
    runner.on('end', () => {
      ended = true;
      tell({ event: 'ended' });
    });
    runner.on('test', (test) => say(test, 'began'));
    runner.on('pass', (test) => say(test, 'passed'));
    runner.on('pending', (test) => say(test, 'skipped'));
    runner.on('fail', (failed, error) => {
      if (failed.type !== 'hook') return say(failed, 'failed', error);
      // A hook fails for the test at hand, or for the tests of its suite.
      const before = /^"before/.test(failed.title);
      const state = before ? 'setup-failed' : 'teardown-failed';
      const at = failed.ctx?.currentTest;
      for (const test of at ? [at] : (failed.parent?.tests ?? [])) {
        if (before || test.state === 'passed') say(test, state, error);
      }
    });
  }
};
