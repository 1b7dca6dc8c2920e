// `/` lists the version and the entry points. `/docs` shows the OpenAPI document with Swagger UI, served from this process
// only: the Content-Security-Policy allows no other host.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { readBuild } from '../../process/build.ts';
import { mountOpenPath } from '../calls/paths.ts';

const PLACES = {
  docs: '/docs',
  openapi_yaml: '/openapi.yaml',
  openapi_json: '/openapi.json',
  alive: '/healthz',
  ready: '/readyz',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Zonefleet API</title>
<link rel="icon" href="/docs/icon.png">
<link rel="stylesheet" href="/docs/viewer.css">
</head>
<body>
<div id="viewer"></div>
<noscript>This page needs JavaScript. The description is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
<script src="/docs/viewer.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** `validatorUrl: null` prevents the viewer from sending the document to its vendor's validator. */
const START = `SwaggerUIBundle({
  dom_id: '#viewer',
  url: '/openapi.json',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
});
`;

/** Scripts and styles are files of this process. The viewer embeds icons as data URLs, and calls this API. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

interface File {
  readonly type: string;
  readonly read: () => Promise<Buffer>;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const FILES: Readonly<Record<string, File>> = {
  '/docs': { type: 'text/html; charset=utf-8', read: async () => Buffer.from(PAGE) },
  '/docs/start.js': { type: SCRIPT, read: async () => Buffer.from(START) },
  '/docs/viewer.js': { type: SCRIPT, read: () => readViewerFile('swagger-ui-bundle.js') },
  '/docs/viewer.css': { type: 'text/css; charset=utf-8', read: () => readViewerFile('swagger-ui.css') },
  '/docs/icon.png': { type: 'image/png', read: () => readViewerFile('favicon-32x32.png') },
};

async function readViewerFile(file: string): Promise<Buffer> {
  return await readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`));
}

export function addDocsPage(app: FastifyInstance, { hasConsole = false } = {}): void {
  const entries = { ...readBuild(), ...(hasConsole && { console: '/console/' }), ...PLACES };
  mountOpenPath(app, '/', async () => entries);
  for (const [url, { type, read }] of Object.entries(FILES)) {
    // Read at the first request, and kept.
    let kept: { readonly bytes: Buffer; readonly tag: string } | undefined;
    mountOpenPath(app, url, async (request, reply) => {
      if (kept === undefined) {
        const bytes = await read();
        kept = { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
      }
      const { bytes, tag } = kept;
      reply.headers({ ...PAGE_HEADERS, 'Cache-Control': 'no-cache', ETag: tag });
      if (request.headers['if-none-match'] === tag) return reply.code(304).send();
      return reply.header('Content-Type', type).send(bytes);
    });
  }
}
