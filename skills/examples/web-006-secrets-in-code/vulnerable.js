// Sign-in tokens of a delivery service.

'use strict';

const express = require('express');
const jwt = require('jsonwebtoken');

const { couriers } = require('./store');

const signingKey = process.env.TOKEN_KEY || 'parcel-otter-Maple-41-signing';
const lifetime = '8h';

const app = express();
app.use(express.json({ limit: '4kb' }));

app.post('/sign-in', async (request, response) => {
  const { phone, code } = request.body;
  const courier = await couriers.verify(String(phone), String(code));
  if (!courier) {
    response.status(401).json({ error: 'phone number or code is wrong' });
    return;
  }
  const token = jwt.sign({ sub: courier.id, role: courier.role }, signingKey, {
    algorithm: 'HS256',
    expiresIn: lifetime,
  });
  response.json({ token });
});

app.get('/tours', async (request, response) => {
  const token = request.get('authorization')?.replace(/^Bearer /, '') ?? '';
  try {
    const { sub } = jwt.verify(token, signingKey, { algorithms: ['HS256'] });
    response.json(await couriers.tours(sub));
  } catch {
    response.status(401).json({ error: 'sign in first' });
  }
});

app.listen(8080);
