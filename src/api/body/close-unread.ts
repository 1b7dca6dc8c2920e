// Ends a connection whose request was answered before its body had arrived: the caller has some time to read the
// answer, and what it sends meanwhile is discarded; then the connection is closed.

import type { IncomingMessage } from 'node:http';

const LINGER_MS = 5000;

export function closeUnread(request: IncomingMessage, lingerMs = LINGER_MS): void {
  if (request.complete !== false || request.socket.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), lingerMs).unref();
  request.once('end', () => clearTimeout(timer));
}
