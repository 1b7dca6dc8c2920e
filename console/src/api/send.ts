// Sends one request. Reads are tried again where that can help; a write is sent once, since only a person knows whether it is
// still wanted. A session that has ended, and a password that is wanted again, are handled here for every screen.

import { words } from '../words/words.ts';
import { ApiError, errorOf } from './api-error.ts';
import { noteServerDate } from './clock.ts';
import { keyedAsBefore } from './unanswered.ts';

const READ_TRIES = 3;
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 5000;

interface Handlers {
  /** The session is over: shows the sign-in. */
  onSignedOut(): void;
  /** Asks for the password; resolves to whether it was confirmed. */
  confirmPassword(): Promise<boolean>;
  /** What a person began failed after they had left where it would be told. */
  tellLate(error: ApiError): void;
}

let handlers: Handlers | undefined;

export function handleSessions(given: Handlers): void {
  handlers = given;
}

export function tellLate(error: ApiError): void {
  handlers?.tellLate(error);
}

/** Like `fetch`, but every answer that is not 2xx, or not whole, is an `ApiError`. */
export async function send(request: Request): Promise<Response> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead) return await keyedAsBefore(request, sendOnce);
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(request);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isPassing || attempt === READ_TRIES) throw error;
      const waitMs = error.retryAfter === undefined ? FIRST_PAUSE_MS * attempt : error.retryAfter * 1000;
      if (waitMs > LONGEST_PAUSE_MS) throw error;
      await pause(waitMs, request.signal);
    }
  }
}

async function sendOnce(request: Request): Promise<Response> {
  const response = await answerTo(request.clone());
  if (response.ok) return await wholeOf(response, request.signal);
  const error = await errorOf(response);
  const isSignIn = new URL(request.url).pathname === '/auth/login';
  if (error.status === 401 && !isSignIn) handlers?.onSignedOut();
  if (error.code === 'reauthenticate' && (await handlers?.confirmPassword()) === true) {
    const again = await answerTo(request.clone());
    if (again.ok) return await wholeOf(again, request.signal);
    throw await errorOf(again);
  }
  throw error;
}

async function answerTo(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    noteServerDate(response.headers.get('Date'));
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError(0, { error: words.failures.noAnswer });
  }
}

/** A server, or what stands between, may end in the middle of an answer; whoever reads it would find no sense in it. */
async function wholeOf(response: Response, signal: AbortSignal): Promise<Response> {
  const { status, statusText, headers } = response;
  try {
    const text = await response.text();
    const whole = new Response(status === 204 || status === 205 ? null : text, {
      status,
      statusText,
      headers,
    });
    if (!/^application\/json\b/.test(headers.get('Content-Type') ?? '')) return whole;
    const value: unknown = JSON.parse(text);
    return Object.assign(whole, { json: async () => value }); // a large answer is not read twice
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(0, { error: words.failures.brokenOff });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
