// Sends one request. Reads are tried again where that can help; a write is sent once, since only a person knows whether it is
// still wanted. A session that has ended, and a password that is wanted again, are handled here for every screen.

import { words } from '../words/words.ts';
import { ApiError, errorOf } from './api-error.ts';

const READ_TRIES = 3;
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 5000;

interface Handlers {
  /** The session is over: shows the sign-in. */
  onSignedOut(): void;
  /** Asks for the password; resolves to whether it was confirmed. */
  confirmPassword(): Promise<boolean>;
}

let handlers: Handlers | undefined;

export function handleSessions(given: Handlers): void {
  handlers = given;
}

/** Like `fetch`, but every answer that is not 2xx is an `ApiError`. */
export async function send(request: Request): Promise<Response> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(request);
    } catch (error) {
      if (!isRead || !(error instanceof ApiError) || !error.isPassing || attempt === READ_TRIES) throw error;
      const waitMs = error.retryAfter === undefined ? FIRST_PAUSE_MS * attempt : error.retryAfter * 1000;
      if (waitMs > LONGEST_PAUSE_MS) throw error;
      await pause(waitMs, request.signal);
    }
  }
}

async function sendOnce(request: Request): Promise<Response> {
  const response = await answerTo(request.clone());
  if (response.ok) return response;
  const error = await errorOf(response);
  const isSignIn = new URL(request.url).pathname.startsWith('/auth/');
  if (error.status === 401 && !isSignIn) handlers?.onSignedOut();
  if (error.code === 'reauthenticate' && (await handlers?.confirmPassword()) === true) {
    const again = await answerTo(request.clone());
    if (again.ok) return again;
    throw await errorOf(again);
  }
  throw error;
}

async function answerTo(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError(0, { error: words.failures.noAnswer });
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
