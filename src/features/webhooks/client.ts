// Posts the body of a webhook to its receiver.

import { request } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { addressOctets, type Network } from '../../dns/record/network.ts';
import { boundSignal } from '../../process/bound-signal.ts';
import { judgeAddress, readWebhookUrl } from './rules.ts';

interface WebhookCall {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Number of earlier attempts. Each attempt calls the next address of the name. */
  readonly attempt: number;
}

export interface CallOptions {
  readonly allowed: readonly Network[];
  /** Resolves a host name. Returns undefined if it cannot be resolved. Rejects when the signal aborts. */
  readonly addressesOf: (host: string, signal: AbortSignal) => Promise<readonly string[] | undefined>;
  /** Returns false if the address already receives too many calls. */
  readonly admit: (address: string) => Promise<boolean>;
  /** CA certificates (PEM) that are trusted in addition to those of Node. */
  readonly roots?: string | undefined;
  readonly callMs?: number;
}

export type CallFailure = PostFailure | 'not_public' | 'unresolved';
type CallResult =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly why: CallFailure }
  /** Nothing was sent, because the receiver is at its limit. */
  | { readonly kind: 'busy' };

/** Time limit from the address lookup to the response. */
const CALL_MS = 5000;

/** Throws the signal's reason when the signal aborts. */
export async function callWebhook(
  call: WebhookCall,
  { allowed, addressesOf, admit, roots, callMs = CALL_MS }: CallOptions,
  signal: AbortSignal,
): Promise<CallResult> {
  const url = readWebhookUrl(call.url, allowed);
  if ('problem' in url) return failed('not_public');
  const { host, port, path } = url;
  const bounded = boundSignal(signal, callMs);
  try {
    const addresses =
      addressOctets(host) === undefined ? await addressesOf(host, bounded) : ([host] as const);
    if (addresses === undefined || addresses.length === 0) return failed('unresolved');
    // If one address is not public, none of them is trusted.
    if (addresses.some((address) => judgeAddress(address, allowed) !== undefined))
      return failed('not_public');
    const address = addresses[call.attempt % addresses.length] as string;
    if (!(await admit(address))) return { kind: 'busy' };
    bounded.throwIfAborted();
    const { body, headers } = call;
    const authority = new URL(url.href).host;
    const posted = await postOnce({ address, host, port, path, authority, body, headers, roots }, bounded);
    signal.throwIfAborted();
    return posted;
  } catch (error) {
    signal.throwIfAborted();
    if (bounded.aborted) return failed('timeout');
    throw error;
  }
}

function failed(why: CallFailure): CallResult {
  return { kind: 'failed', why };
}

interface Post {
  /** Address that the connection is opened to. */
  readonly address: string;
  /** Name that the certificate must match. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The Host header. */
  readonly authority: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly roots: string | undefined;
}

type PostFailure = 'unreachable' | 'tls' | 'timeout' | 'bad_answer';
type Posted =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly why: PostFailure };

const MOST_HEADER_BYTES = 8192;
/** Maximum number of interim responses (RFC 9110 §15.2). Each may have headers. */
const MOST_INTERIM = 4;

/** Returns a `timeout` failure when the signal aborts. */
async function postOnce(post: Post, signal: AbortSignal): Promise<Posted> {
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

/** Error codes of sockets. */
const SOCKET = /^E(CONN|HOST|NET|PIPE|ADDR|TIMEDOUT|ACCES|PERM|MFILE)/;

/** Codes that belong neither to sockets nor to the HTTP parser come from OpenSSL. */
function failureOf({ code = '' }: NodeJS.ErrnoException): PostFailure {
  if (code.startsWith('HPE_')) return 'bad_answer';
  return code === '' || SOCKET.test(code) ? 'unreachable' : 'tls';
}
