// Sends a light stream of queries to our nameserver, so that there is traffic to see: a few per second in waves, mostly for
// existing names.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { parseName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { encodeQuery, setId } from '../../resolver/exchange/encode-query.ts';
import { ABSENT_BELOW, QUESTIONS } from './demo-domains.ts';

/** Average time between two queries at the peak and at the lowest rate. */
const SHORTEST_MS = 120;
const LONGEST_MS = 600;
const WAVE_MS = 5 * 60_000;
const ABSENT_SHARE = 0.12;

interface Traffic {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** Returns a function that ends it. */
export function sendTraffic({ addresses, port }: Traffic): () => Promise<void> {
  const socket = createSocket('udp4');
  socket.on('error', () => {}); // the nameserver is not running, or not yet
  socket.on('message', () => {});
  let timer: NodeJS.Timeout;
  const ask = () => {
    const { name, type } = drawQuestion();
    const query = encodeQuery(parseName(name), type, true);
    setId(query, randomInt(65_536));
    socket.send(query, port, addresses[randomInt(addresses.length)] as string, () => {});
    timer = setTimeout(ask, drawPauseMs(Date.now()));
  };
  timer = setTimeout(ask, LONGEST_MS);
  return async () => {
    clearTimeout(timer);
    socket.close();
  };
}

function drawQuestion(): { name: string; type: number } {
  if (Math.random() < ABSENT_SHARE)
    return { name: `${randomInt(36 ** 6).toString(36)}.${ABSENT_BELOW}`, type: TYPE.A };
  const [name, type] = QUESTIONS[
    Math.floor(QUESTIONS.length * Math.random() ** 2)
  ] as (typeof QUESTIONS)[number];
  return { name, type: TYPE[type as keyof typeof TYPE] };
}

function drawPauseMs(nowMs: number): number {
  const height = (1 + Math.sin((2 * Math.PI * nowMs) / WAVE_MS)) / 2;
  return (LONGEST_MS - height * (LONGEST_MS - SHORTEST_MS)) * (0.5 + Math.random());
}
