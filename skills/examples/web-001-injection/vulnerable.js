// Thumbnails for a photo gallery. Uploads are stored under their original name.

'use strict';

const { exec } = require('node:child_process');
const path = require('node:path');
const { promisify } = require('node:util');

const express = require('express');
const multer = require('multer');

const run = promisify(exec);
const galleryDir = path.resolve('gallery');
const upload = multer({
  limits: { fileSize: 8 * 1024 * 1024 },
  storage: multer.diskStorage({
    destination: galleryDir,
    filename: (_request, file, done) => done(null, path.basename(file.originalname)),
  }),
});

async function thumbnail(file, width) {
  const target = path.join(galleryDir, 'thumbs', path.basename(file));
  await run(`convert "${file}" -resize ${width}x "${target}"`, { timeout: 20_000 });
  return target;
}

const app = express();

app.post('/photos', upload.single('photo'), async (request, response, next) => {
  try {
    const width = Number.parseInt(request.body.width ?? '320', 10);
    if (!Number.isInteger(width) || width < 16 || width > 2048) {
      response.status(400).json({ error: 'width must be between 16 and 2048' });
      return;
    }
    const target = await thumbnail(request.file.path, width);
    response.status(201).json({ thumbnail: path.basename(target) });
  } catch (error) {
    next(error);
  }
});

app.listen(8080);
