// Link previews for a chat: the server loads the page and returns its title.

'use strict';

const dns = require('node:dns/promises');
const net = require('node:net');

const express = require('express');
const { Agent } = require('undici');

const app = express();
app.use(express.json({ limit: '4kb' }));

const titlePattern = /<title[^>]*>([^<]{1,300})<\/title>/i;
const privateRanges = new net.BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16],
  ['172.16.0.0', 12], ['192.168.0.0', 16], ['224.0.0.0', 3],
]) {
  privateRanges.addSubnet(address, bits, 'ipv4');
}

// Only public IPv4 addresses are contacted, and the checked address is the one that is used.
async function publicAddress(hostname) {
  const { address } = await dns.lookup(hostname, { family: 4 });
  if (privateRanges.check(address, 'ipv4')) {
    throw new Error('address is not public');
  }
  return address;
}

function pinned(address) {
  const lookup = (_host, _options, done) => done(null, [{ address, family: 4 }]);
  return new Agent({ connect: { lookup } });
}

async function titleOf(link) {
  const url = new URL(link);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error('only web pages have a preview');
  }
  const dispatcher = pinned(await publicAddress(url.hostname));
  const answer = await fetch(url, {
    dispatcher,
    redirect: 'error',
    signal: AbortSignal.timeout(5000),
  });
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
