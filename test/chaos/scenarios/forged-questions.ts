// Questions over UDP in the name of one network, for a hundred names with large TXT records. Nobody limits loopback addresses,
// so they come from another address of this machine; its packets to 127.0.0.1 do not leave it.

import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { makeTexts } from '../large-texts.ts';
import type { Scenario } from '../scenario.ts';
import { DOMAIN } from '../stage.ts';

const NAMES = 100;
const QUESTIONS = 40_000;
/** Sent at once, then a pause: as many a second as a socket's buffers take. */
const AT_ONCE = 40;
const MOST = 3;

const otherAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

export const forgedQuestions: Scenario = {
  name: 'forged-questions',
  attack: `${QUESTIONS} questions of one network for ${NAMES} names with large TXT records`,
  lacks: () => (otherAddress() === undefined ? 'an IPv4 address beside loopback' : undefined),
  async run(stage) {
    const names = Array.from({ length: NAMES }, (_, i) => `t${i}`);
    await makeTexts(stage, names, 1);
    const queries = names.map((name) => queryFor(`${name}.${DOMAIN}.`, TYPE.TXT, { opt: '' }));
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
    await new Promise<void>((done) => socket.bind(0, otherAddress(), done));
    let asked = 0;
    let answered = 0;
    let whole = 0;
    socket.on('message', (answer) => {
      answered += answer.length;
      if (answer.length > 1000) whole++;
    });
    for (let sent = 0; sent < QUESTIONS; sent++) {
      const query = queries[sent % NAMES] as Buffer;
      asked += query.length;
      socket.send(query, stage.dns.port, stage.dns.address);
      if (sent % AT_ONCE === 0) await pause(1);
    }
    stage.faultEnds();
    await pause(500); // what is under way
    socket.close();
    const factor = answered / asked;
    return [
      { label: 'octets answered ÷ asked', text: factor.toFixed(1), isMet: answered > 0 && factor <= MOST },
      { label: 'whole answers', text: `${whole} of ${QUESTIONS}`, isMet: true },
    ];
  },
};
