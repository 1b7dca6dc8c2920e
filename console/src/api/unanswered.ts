// Writes without a response may have been carried out. If the same write is sent again, it has the same Idempotency-Key, so that it
// is carried out once.

import { ApiError } from './api-error.ts';

const KEY = 'Idempotency-Key';
const MOST = 20;
const MOST_CHARACTERS = 200_000;

/** Keys by the content of the request, oldest first. */
const keys = new Map<string, string>();

export async function keyedAsBefore(
  request: Request,
  sendOnce: (request: Request) => Promise<Response>,
): Promise<Response> {
  const key = request.headers.get(KEY);
  if (key === null) return await sendOnce(request);
  const what = `${request.method} ${request.url}\n${await request.clone().text()}`;
  const before = keys.get(what);
  const keyed = new Request(request);
  if (before !== undefined) keyed.headers.set(KEY, before);
  try {
    const answer = await sendOnce(keyed);
    keys.delete(what);
    return answer;
  } catch (error) {
    keys.delete(what);
    const isUnanswered = !(error instanceof ApiError) || error.isPassing;
    if (isUnanswered && what.length <= MOST_CHARACTERS) keys.set(what, before ?? key);
    const [oldest = ''] = keys.keys();
    if (keys.size > MOST) keys.delete(oldest);
    throw error;
  }
}
