// `/console/`: serves the files of the console to everyone, since they contain no secrets. The console loads its data
// from the API after signing in.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { html, PAGE_POLICY, page } from '../answers/html.ts';
import { Problem } from '../answers/problem.ts';
import { sendProblem } from '../answers/send-problem.ts';
import { mountOpenPath } from '../calls/paths.ts';
import { ConsoleFiles, SAFE_HEADERS, sendFile } from './console-files.ts';

/** Policy of every page: only its own files, nothing inline, no framing, and forms to its own origin only. */
const CONSOLE_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const RETRY_SECONDS = '3';

const NOT_BUILT = page(
  'Zonefleet console',
  html`<h1>The console is not built yet</h1>
<p><code>npm start</code> builds it in the background, which takes about a minute. This page reloads automatically.
If the API runs on its own, build it with <code>npm ci --prefix console &amp;&amp; npm run build --prefix console</code>.
Everything else works without it: the API is described at <a href="/docs">/docs</a>.</p>`,
);

/** `folder` contains the built files, or will contain them. */
export function serveConsole(
  app: FastifyInstance,
  folder: string,
  { hasPublicCheck = false }: { readonly hasPublicCheck?: boolean } = {},
): void {
  const files = new ConsoleFiles(folder);
  if (hasPublicCheck) {
    mountOpenPath(app, '/check/:name', async (request, reply) => {
      const { name = '' } = request.params as Record<string, string>;
      return reply.redirect(`/console/check/${encodeURIComponent(name)}`, 302);
    });
  }
  mountOpenPath(app, '/console', async (_request, reply) => reply.redirect('/console/', 308));
  for (const url of ['/console/', '/console/*']) {
    mountOpenPath(app, url, async (request, reply) => {
      const all = await files.all();
      reply.headers(SAFE_HEADERS);
      if (all === undefined) return sendNotBuilt(reply);
      const path = (request.params as Record<string, string>)['*'] ?? '';
      // Every view of the console has its own path, which the page reads. A path with a dot is a domain name there.
      const file = all.get(path) ?? (path.startsWith('assets/') ? undefined : all.get('index.html'));
      if (file === undefined) return sendProblem(reply, new Problem(404, 'path not found'));
      return sendFile(request, reply, { file, policy: CONSOLE_POLICY, sharing: 'public' });
    });
  }
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({
      'Content-Security-Policy': PAGE_POLICY,
      'Content-Type': 'text/html; charset=utf-8',
      'Retry-After': RETRY_SECONDS,
      Refresh: RETRY_SECONDS,
    })
    .send([...NOT_BUILT].join('\n'));
}
