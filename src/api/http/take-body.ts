// Prepares the body of a request for its route. A small body is parsed here, a large one stays as bytes for a thread.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../answers/problem.ts';
import { bodyBounds, THREAD_BODY_BYTES } from '../body/body-bounds.ts';
import type { Reservation } from '../body/body-room.ts';
import { judgeBodyType, readBody } from '../body/read-body.ts';
import { receiveBody } from '../body/receive-body.ts';
import type { LargeWork } from '../large/large-work.ts';
import { StreamedBody } from '../requests/streamed-body.ts';

export interface ReceivedBody {
  readonly segments: readonly Uint8Array<ArrayBuffer>[];
  readonly room: Reservation;
}

/** Placeholder for a body that a thread will read. */
export class UnreadBody {}

const ENDLESS_ROOM: Reservation = { grow: () => true, hold: () => {}, release: () => {} };

export async function takeBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  largeWork: LargeWork | undefined,
): Promise<unknown> {
  const { route } = request.routeOptions.config;
  const { admitted } = request;
  const declaredType = route?.compat === undefined ? request.declaredType : undefined;
  if (route?.streamedBody === true) return new StreamedBody(payload, request.raw.headers, declaredType);
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
  const isLarge = route?.largeBody === true && received.bytes >= THREAD_BODY_BYTES;
  if (isLarge && largeWork !== undefined && admitted !== undefined) return new UnreadBody();
  return readBody(Buffer.concat(segments), declaredType, route);
}
