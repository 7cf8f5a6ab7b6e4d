// Administration of a forum.

'use strict';

const express = require('express');

const { accounts, sessions } = require('./store');

const app = express();
app.use(express.json({ limit: '16kb' }));

async function signedIn(request, response, next) {
  const token = request.get('authorization')?.replace(/^Bearer /, '');
  const session = token && (await sessions.find(token));
  if (!session) {
    response.status(401).json({ error: 'sign in first' });
    return;
  }
  request.account = await accounts.get(session.accountId);
  next();
}

function adminOnly(request, response, next) {
  if (request.account.role !== 'admin') {
    response.status(403).json({ error: 'administrators only' });
    return;
  }
  next();
}

app.get('/admin/accounts', signedIn, adminOnly, async (_request, response) => {
  response.json(await accounts.all());
});

app.delete('/admin/accounts/:id', signedIn, async (request, response) => {
  await accounts.remove(request.params.id);
  response.status(204).end();
});

app.patch('/profile', signedIn, async (request, response) => {
  const { displayName } = request.body;
  await accounts.rename(request.account.id, String(displayName).slice(0, 60));
  response.status(204).end();
});

app.listen(8080);
