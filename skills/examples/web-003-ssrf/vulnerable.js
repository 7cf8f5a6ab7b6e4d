// Link previews for a chat: the server loads the page and returns its title.

'use strict';

const express = require('express');

const app = express();
app.use(express.json({ limit: '4kb' }));

const titlePattern = /<title[^>]*>([^<]{1,300})<\/title>/i;

async function titleOf(link) {
  const url = new URL(link);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error('only web pages have a preview');
  }
  const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
  const page = await answer.text();
  return titlePattern.exec(page)?.[1].trim() ?? url.hostname;
}

app.post('/preview', async (request, response) => {
  try {
    response.json({ title: await titleOf(request.body.link) });
  } catch {
    response.status(422).json({ error: 'no preview for this link' });
  }
});

app.listen(8080);
