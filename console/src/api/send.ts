// Sends one request. Reads are retried if that can help. Writes are sent once, because only the person knows whether they are still
// wanted. Handles ended sessions and required passwords for every screen.

import { words } from '../words/words.ts';
import { ApiError, errorOf } from './api-error.ts';
import { noteServerDate } from './clock.ts';
import { keyedAsBefore } from './unanswered.ts';

const READ_TRIES = 3;
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 5000;

interface Handlers {
  /** Shows the sign-in, because the session has ended. */
  onSignedOut(): void;
  /** Asks for the password. Resolves to true if it was confirmed. */
  confirmPassword(): Promise<boolean>;
  /** Reports the failure of an action whose screen has been left. */
  tellLate(error: ApiError): void;
}

let handlers: Handlers | undefined;

export function handleSessions(given: Handlers): void {
  handlers = given;
}

export function tellLate(error: ApiError): void {
  handlers?.tellLate(error);
}

/** Like `fetch`, but throws an `ApiError` for a status other than 2xx and for an incomplete response. */
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
  if (request.headers.has('Authorization')) throw error; // not the session of the handlers
  const isSignIn = /^\/auth\/(login|oidc\/finish)$/.test(new URL(request.url).pathname);
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

/** The server or a proxy may end the connection in the middle of a response, which could then not be parsed. */
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
    return Object.assign(whole, { json: async () => value }); // avoids reading a large response twice
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
