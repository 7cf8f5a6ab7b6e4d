FROM ruby:<%= ruby_version %>
ENV RAILS_ENV <%= env %>
<% if dev %>
RUN bundle install
<% end %>
