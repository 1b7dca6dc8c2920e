// Receives a body as it arrives, and rejects it at the first byte that exceeds a limit: of the body, of its parts, or
// of the memory for bodies. The rest is discarded unread.

import { badRequest, Problem, problem, unavailable } from '../answers/problem.ts';
import { type BodyBounds, THREAD_BODY_BYTES } from './body-bounds.ts';
import type { Reservation } from './body-room.ts';
import { BodySegments, BodyTurns } from './body-room.ts';
import { JsonScan } from './scan-json.ts';

export interface Arriving {
  readonly payload: NodeJS.ReadableStream;
  /** Value of the Content-Length header. */
  readonly contentLength: string | undefined;
  readonly bounds: BodyBounds;
  /** A problem applies only if a body arrives. */
  readonly type: 'json' | 'text' | Problem;
  readonly room: Reservation;
}

const NO_ROOM_RETRY_SECONDS = 5;
/** A body up to this size is scanned immediately, without waiting for a turn. */
const IMMEDIATE_BYTES = 64 * 1024;
/** The scan turns of all bodies in the process, which share one event loop. */
const turns = new BodyTurns();

/** Rejects if the connection breaks. */
export async function receiveBody(arriving: Arriving): Promise<BodySegments | Problem> {
  const { payload, bounds } = arriving;
  const announced = Number(arriving.contentLength);
  const refused = announced > bounds.bytes ? tooLarge(bounds) : undefined;
  if (refused !== undefined) return refused;
  const intake = new Intake(arriving);
  return await new Promise((resolve, reject) => {
    const settle = (outcome: BodySegments | Problem) => {
      payload.removeListener('data', onData);
      payload.resume();
      resolve(outcome);
    };
    let isWaiting = false;
    const take = (chunk: Buffer) => {
      const problem = intake.take(chunk);
      if (problem !== undefined) settle(problem);
    };
    const finish = () => {
      const isShort = !Number.isNaN(announced) && intake.segments.bytes !== announced;
      settle(isShort ? badRequest('the length of the body differs from Content-Length') : intake.segments);
    };
    const onData = (chunk: Buffer) => {
      const isSmall = intake.segments.bytes + chunk.length <= IMMEDIATE_BYTES;
      if (isSmall || turns.mayTake(chunk.length)) return take(chunk);
      payload.pause();
      isWaiting = true;
      turns.wait(chunk.length, () => {
        isWaiting = false;
        take(chunk);
        if (hasEnded) finish();
        else payload.resume();
      });
    };
    let hasEnded = false;
    payload.on('data', onData);
    payload.once('end', () => {
      hasEnded = true; // may arrive while the stream is paused, and `close` with it
      if (!isWaiting) finish();
    });
    payload.once('error', reject);
    payload.once('close', () => {
      if (!hasEnded) reject(new Error('the connection was closed within the body'));
    });
  });
}

class Intake {
  readonly segments = new BodySegments();
  readonly #scan: JsonScan | undefined;
  readonly #arriving: Arriving;
  #reserved = 0;

  constructor(arriving: Arriving) {
    this.#arriving = arriving;
    this.#scan = arriving.type === 'json' ? new JsonScan(arriving.bounds) : undefined;
  }

  take(chunk: Uint8Array): Problem | undefined {
    const { bounds, room, type } = this.#arriving;
    if (type instanceof Problem) return type;
    if (this.segments.bytes + chunk.length > bounds.bytes) return tooLarge(bounds);
    const breach = this.#scan?.push(chunk);
    if (breach !== undefined) return badRequest(breach);
    this.segments.add(chunk);
    // Small bodies are many and short-lived. The number of connections bounds them.
    if (this.segments.bytes < THREAD_BODY_BYTES) return undefined;
    const more = this.segments.bytes - this.#reserved;
    if (!room.grow(more))
      return unavailable('too many large requests at the same time; try again', NO_ROOM_RETRY_SECONDS);
    this.#reserved += more;
    return undefined;
  }
}

function tooLarge({ bytes, byPlan }: BodyBounds): Problem {
  if (!byPlan) return badRequest('the body is too large');
  return problem('plan_limit', `the body is too large: the plan allows ${bytes} bytes`, { limit: bytes });
}
