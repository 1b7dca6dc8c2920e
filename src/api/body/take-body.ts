// From the octets of a request to the body that its route judges: read here when it is small, left as octets for a thread
// when it is large.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { LargeWork } from '../large/large-work.ts';
import { Problem } from '../problem.ts';
import { judgeBodyType, readBody } from '../read-body.ts';
import { bodyBounds, THREAD_BODY_OCTETS } from './body-bounds.ts';
import type { Reservation } from './body-room.ts';
import { receiveBody } from './receive-body.ts';

export interface ReceivedBody {
  readonly segments: readonly Uint8Array<ArrayBuffer>[];
  readonly room: Reservation;
}

/** Stands in the place of a body that a thread will read. */
export class UnreadBody {}

const ENDLESS_ROOM: Reservation = { grow: () => true, hold: () => {}, release: () => {} };

export async function takeBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  largeWork: LargeWork | undefined,
): Promise<unknown> {
  const { route } = request.routeOptions.config;
  const { admitted, declaredType } = request;
  const type = judgeBodyType(declaredType, route?.textBody);
  const accountId = admitted?.caller.account.id;
  const room = (accountId !== undefined && largeWork?.room.reserve(accountId)) || ENDLESS_ROOM;
  request.response.once('close', room.release);
  const received = await receiveBody({
    payload,
    contentLength: request.headers['content-length'],
    bounds: bodyBounds(route ?? {}, admitted?.domain?.plan ?? null),
    type,
    room,
  });
  if (received instanceof Problem) {
    room.release();
    return received;
  }
  const segments = received.list();
  request.received = { segments, room };
  const isLarge = route?.largeBody === true && received.octets >= THREAD_BODY_OCTETS;
  if (isLarge && largeWork !== undefined && admitted !== undefined) return new UnreadBody();
  return readBody(Buffer.concat(segments), declaredType, route);
}
