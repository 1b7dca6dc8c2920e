// The servers of the small internet, in one process. Each reply is sent a fixed number of milliseconds after its query.
//   parent-server.ts PORT DELAY_MS

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import {
  addressesOfZone,
  OUR_NAMESERVERS,
  PARENT_ZONES,
  parentZone,
  rootAddresses,
  silentZone,
  VICTIMS,
  victimAddress,
} from './parents.ts';

const [portText = '', delayText = ''] = process.argv.slice(2);
const port = Number(portText);
const delayMs = Number(delayText);

const [A, NS, SOA, OPT] = [1, 2, 6, 41];
const [NOERROR, NXDOMAIN, REFUSED] = [0, 3, 5];
const TTL = 86_400;
const HEADER = 12;
/** The query name. */
const POINTER = Buffer.from([0xc0, HEADER]);
const RECEIVE_BYTES = 4 * 2 ** 20;

const zoneNumbers = new Map(Array.from({ length: PARENT_ZONES }, (_, i) => [parentZone(i), i]));
const rootServers = new Set(rootAddresses());

function wire(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.from(
    `${labels.map((label) => String.fromCharCode(label.length) + label).join('')}\0`,
    'latin1',
  );
}

function record(owner: Buffer, type: number, rdata: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(TTL, 4);
  fixed.writeUInt16BE(rdata.length, 8);
  return Buffer.concat([owner, fixed, rdata]);
}

interface Records {
  readonly octets: Buffer;
  readonly count: number;
}

const NOTHING: Records = { octets: Buffer.alloc(0), count: 0 };

function records(list: readonly Buffer[]): Records {
  return { octets: Buffer.concat(list), count: list.length };
}

/** A zone with silent servers: its name contains `index`. Their names are in the parent zone, so that it can send glue. */
function silentDelegation(index: number): Answer {
  const victims = [index % VICTIMS, (index * 7 + 1) % VICTIMS];
  const hosts = victims.map((victim) => `v${victim}.${parentZone(0)}`);
  return said({
    authority: nsOf(wire(silentZone(index)), hosts),
    glue: records(
      victims.map((victim, i) =>
        record(wire(hosts[i] as string), A, Buffer.from(victimAddress(victim).split('.').map(Number))),
      ),
    ),
  });
}

const nsOf = (owner: Buffer, servers: readonly string[]) =>
  records(servers.map((server) => record(owner, NS, wire(server))));
const glueOf = (servers: readonly string[]) =>
  records(servers.map((server) => record(wire(server), A, Buffer.from(server.split('.').map(Number)))));
const soaOf = (zone: string) => {
  const numbers = Buffer.alloc(20);
  for (const [i, number] of [1, 3600, 600, 86_400, 900].entries()) numbers.writeUInt32BE(number, i * 4);
  return records([record(wire(zone), SOA, Buffer.concat([wire(zone), wire(zone), numbers]))]);
};

const [ROOT_NS, ROOT_GLUE] = [nsOf(wire('.'), [...rootServers]), glueOf([...rootServers])];
const ZONES = Array.from({ length: PARENT_ZONES }, (_, i) => {
  const servers = addressesOfZone(i);
  return {
    servers: new Set(servers),
    ns: nsOf(wire(parentZone(i)), servers),
    glue: glueOf(servers),
    soa: soaOf(parentZone(i)),
  };
});
/** The answer is the same for every domain that is queried by its own name. */
const DELEGATION = nsOf(POINTER, OUR_NAMESERVERS);
const ROOT_SOA = soaOf('.');
const OPT_RECORD = Buffer.from([0, 0, OPT, 0x04, 0xd0, 0, 0, 0, 0, 0, 0]);

interface Answer {
  readonly rcode: number;
  readonly aa: boolean;
  readonly answer: Records;
  readonly authority: Records;
  readonly glue: Records;
}

const said = (parts: Partial<Answer>): Answer => ({
  rcode: NOERROR,
  aa: false,
  answer: NOTHING,
  authority: NOTHING,
  glue: NOTHING,
  ...parts,
});
const authoritative = (type: number, ns: Records, glue: Records, soa: Records): Answer =>
  type === NS ? said({ aa: true, answer: ns, glue }) : said({ aa: true, authority: soa });

function answerTo(address: string, labels: readonly string[], type: number): Answer {
  const number = zoneNumbers.get(labels.at(-1) ?? '');
  const zone = number === undefined ? undefined : ZONES[number];
  if ((OUR_NAMESERVERS as readonly string[]).includes(address)) {
    return labels.length < 2 ? said({ rcode: REFUSED }) : authoritative(type, DELEGATION, NOTHING, NOTHING);
  }
  if (zone?.servers.has(address)) {
    if (labels.length === 1) return authoritative(type, zone.ns, zone.glue, zone.soa);
    const [, silent] = /^s(\d+)$/.exec(labels.at(-2) ?? '') ?? [];
    if (silent !== undefined) return silentDelegation(Number(silent));
    return said({ authority: DELEGATION });
  }
  if (!rootServers.has(address)) return said({ rcode: REFUSED });
  if (labels.length === 0) return authoritative(type, ROOT_NS, ROOT_GLUE, ROOT_SOA);
  if (zone === undefined) return said({ rcode: NXDOMAIN, aa: true, authority: ROOT_SOA });
  return said({ authority: zone.ns, glue: zone.glue });
}

function reply(address: string, question: Buffer): Buffer | undefined {
  if (question.length < HEADER + 5) return undefined;
  const labels: string[] = [];
  let at = HEADER;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  const end = at + 5;
  const { rcode, aa, answer, authority, glue } = answerTo(address, labels, question.readUInt16BE(at + 1));
  const withOpt = question.readUInt16BE(10) > 0;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(0x8000 | (aa ? 0x0400 : 0) | rcode, 2);
  head.writeUInt16BE(answer.count, 6);
  head.writeUInt16BE(authority.count, 8);
  head.writeUInt16BE(glue.count + (withOpt ? 1 : 0), 10);
  return Buffer.concat([
    head,
    answer.octets,
    authority.octets,
    glue.octets,
    ...(withOpt ? [OPT_RECORD] : []),
  ]);
}

function send(socket: Socket, octets: Buffer, to: RemoteInfo): void {
  socket.send(octets, to.port, to.address, () => {}); // the client may have ended
}

async function listen(address: string): Promise<void> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BYTES });
  socket.on('message', (question, from) => {
    const octets = reply(address, question);
    if (octets !== undefined) setTimeout(send, delayMs, socket, octets, from);
  });
  await new Promise<void>((done, fail) => {
    socket.once('error', fail);
    socket.bind({ port, address, exclusive: true }, done);
  });
}

/** Number of packets that each silent address received. */
const packets = new Array<number>(VICTIMS).fill(0);

async function listenSilently(index: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', () => {
    packets[index] = (packets[index] ?? 0) + 1;
  });
  await new Promise<void>((done, fail) => {
    socket.once('error', fail);
    socket.bind({ port, address: victimAddress(index), exclusive: true }, done);
  });
}

const addresses = [...ZONES.flatMap(({ servers }) => [...servers]), ...OUR_NAMESERVERS];
await Promise.all([...addresses.map(listen), ...packets.map((_, i) => listenSilently(i))]);
process.on('message', () => process.send?.(packets));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
