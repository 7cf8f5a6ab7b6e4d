// Offline manual of a router: pages are Markdown files in one directory.

'use strict';

const fs = require('node:fs/promises');
const http = require('node:http');
const path = require('node:path');

const manualDir = path.resolve('manual');

async function readPage(name) {
  const file = path.join(manualDir, `${name}.md`);
  if (!file.startsWith(manualDir + path.sep)) {
    return null;
  }
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') {
      return null;
    }
    throw error;
  }
}

const server = http.createServer(async (request, response) => {
  try {
    const url = new URL(request.url, 'http://router.local');
    const page = await readPage(url.searchParams.get('page') ?? 'index');
    if (page === null) {
      response.writeHead(404).end('no such page');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/markdown; charset=utf-8' });
    response.end(page);
  } catch (error) {
    console.error('manual:', error.message);
    response.writeHead(500).end('the page could not be read');
  }
});

server.listen(8080);
