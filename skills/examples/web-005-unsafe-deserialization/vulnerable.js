// Saved filters of a ticket system. Clients send filters that they exported.

'use strict';

const express = require('express');
const serializer = require('node-serialize');

const { filters } = require('./store');

const app = express();
app.use(express.text({ limit: '16kb', type: '*/*' }));

const fields = new Set(['status', 'owner', 'priority']);

function readFilter(text) {
  const filter = serializer.unserialize(text);
  if (typeof filter?.name !== 'string' || !Array.isArray(filter.rules)) {
    throw new TypeError('a filter needs a name and rules');
  }
  const rules = filter.rules.map((rule) => {
    if (!fields.has(rule.field)) {
      throw new TypeError('a rule uses an unknown field');
    }
    return { field: rule.field, value: String(rule.value) };
  });
  return { name: filter.name.slice(0, 80), rules };
}

app.post('/filters/import', async (request, response) => {
  let filter;
  try {
    filter = readFilter(request.body);
  } catch (error) {
    response.status(400).json({ error: error.message });
    return;
  }
  await filters.add(filter);
  response.status(201).json({ name: filter.name });
});

app.listen(8080);
