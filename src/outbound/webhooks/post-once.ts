// One POST over TLS to a given address. Of the answer only its status is read; redirects are not followed.

import { request } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';

interface Post {
  /** Where the connection goes. */
  readonly address: string;
  /** Whose certificate is wanted. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The Host header. */
  readonly authority: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly roots: string | undefined;
}

export type PostFailure = 'unreachable' | 'tls' | 'timeout' | 'bad_answer';
type Posted =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly why: PostFailure };

const MOST_HEADER_BYTES = 8192;
/** Answers before the answer (RFC 9110 §15.2), each of which may have headers. */
const MOST_INTERIM = 4;

/** When the signal aborts, it is a failure by time-out. */
export async function postOnce(post: Post, signal: AbortSignal): Promise<Posted> {
  const { address, host, port, path, authority, body, headers, roots } = post;
  return await new Promise((resolve) => {
    const asked = request({
      method: 'POST',
      host: address,
      port,
      path,
      servername: isIP(host) === 0 ? host : '',
      agent: false,
      minVersion: 'TLSv1.2',
      maxHeaderSize: MOST_HEADER_BYTES,
      ...(roots !== undefined && { ca: [...rootCertificates, roots] }),
      headers: {
        ...headers,
        Host: authority,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': 'zonefleet-webhooks',
        Connection: 'close',
      },
    });
    const end = (posted: Posted) => {
      signal.removeEventListener('abort', stop);
      resolve(posted);
      asked.destroy();
    };
    const stop = () => end({ kind: 'failed', why: 'timeout' });
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    let interim = 0;
    asked.on('information', () => {
      if (++interim > MOST_INTERIM) end({ kind: 'failed', why: 'bad_answer' });
    });
    asked.on('upgrade', (_, socket) => {
      socket.destroy();
      end({ kind: 'failed', why: 'bad_answer' });
    });
    asked.on('response', ({ statusCode = 0 }) => end({ kind: 'answered', status: statusCode }));
    asked.on('error', (error: NodeJS.ErrnoException) => end({ kind: 'failed', why: failureOf(error) }));
    asked.end(body);
  });
}

/** The codes of sockets. */
const SOCKET = /^E(CONN|HOST|NET|PIPE|ADDR|TIMEDOUT|ACCES|PERM|MFILE)/;

/** What is no code of sockets or of the HTTP parser is one of OpenSSL. */
function failureOf({ code = '' }: NodeJS.ErrnoException): PostFailure {
  if (code.startsWith('HPE_')) return 'bad_answer';
  return code === '' || SOCKET.test(code) ? 'unreachable' : 'tls';
}
