import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { MessageRecord } from '../../../src/dns/message/message.ts';
import { readTsig, signMessage, type TsigKey, verifyRequest } from '../../../src/dns/message/tsig.ts';
import { TsigStreamSigner, TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { pick, randomFrom } from '../../support/random/random-zones.ts';

const PYTHON = '/usr/bin/python3'; // the interpreter for which Debian installs dnspython
const NOW = 1_800_000_000;
const ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
const SECRET = Uint8Array.from({ length: 40 }, (_, i) => i * 6);

/** A request, or the messages of a response and the MAC of the request. In hexadecimal. */
interface Exchange {
  readonly algorithm: (typeof ALGORITHMS)[number];
  readonly requestMac: string;
  readonly messages: readonly string[];
}

/** Reads the exchanges to verify and prints as many that it signed. Fails if one is not valid. */
const SCRIPT = `
import json, random, sys, time
now = ${NOW}
time.time = lambda: float(now)
import dns.message, dns.name, dns.rrset, dns.tsig
random.seed(1)
key = lambda algorithm: dns.tsig.Key('Key.Example.Test.', bytes.fromhex('${Buffer.from(SECRET).toString('hex')}'), algorithm)
exchanges = json.load(sys.stdin)
for each in exchanges:
    ctx = None
    for message in each['messages']:
        read = dns.message.from_wire(bytes.fromhex(message), keyring=key(each['algorithm']), xfr=True, tsig_ctx=ctx,
            request_mac=bytes.fromhex(each['requestMac']), multi=len(each['messages']) > 1)
        assert read.had_tsig
        ctx = read.tsig_ctx

def message(is_response):
    made = dns.message.make_query(random.choice(['', 'example.', 'a.key.']) + 'test.', random.choice(['SOA', 'IXFR', 'A']))
    made.flags = 0x8400 if is_response else random.choice([0, 0x2000, 0x0100])
    if random.random() < 0.5: made.use_edns(0)
    for i in range(random.randrange(40)):
        made.answer.append(dns.rrset.from_text('n%d.example.test.' % i, 60, 'IN', 'TXT', 'x' * random.randrange(1, 250)))
    return made

def signed(algorithm, mac=b'', ctx=None, multi=False, **options):
    made = message(mac != b'')
    made.use_tsig(key(algorithm), fudge=random.choice([5, 60, 300]), **options)
    made.request_mac = mac
    return made.to_wire(max_size=65535, multi=multi, tsig_ctx=ctx), made

made = []
for each in exchanges:
    algorithm, mac, now = random.choice([each['algorithm'], each['algorithm'].upper()]), bytes.fromhex(each['requestMac']), ${NOW}
    options = {} if mac else {'original_id': random.randrange(65536), 'other_data': bytes(random.randrange(9))}
    wires, ctx, count = [], None, len(each['messages'])
    for i in range(count):
        now = ${NOW} + i % 5
        if 0 < i < count - 1 and i % 3 == 0:
            wires.append(message(True).to_wire(max_size=65535))
            ctx.update(wires[-1])
        else:
            wire, last = signed(algorithm, mac, ctx, count > 1, **options)
            wires.append(wire)
            ctx = last.tsig_ctx
    made.append({**each, 'messages': [wire.hex() for wire in wires]})
json.dump(made, sys.stdout)
`;

const keyOf = ({ algorithm }: Exchange): TsigKey => ({
  name: parseName('key.example.test.'),
  algorithm,
  secret: SECRET,
});

const random = randomFrom(1);
const below = (limit: number) => Math.floor(random() * limit);

function randomMessage(isResponse: boolean): Uint8Array {
  const txt = (i: number): MessageRecord => {
    const octets = below(256);
    const rdata = Uint8Array.of(octets, ...Array<number>(octets).fill(below(256)));
    return { owner: parseName(`n${i}.Example.test.`), type: TYPE.TXT, class: 1, ttl: 60, rdata };
  };
  const message = encodeMessage({
    id: below(65536),
    qr: isResponse,
    opcode: pick(random, [0, 4]),
    ...{ aa: false, tc: false, rd: false, ra: false, ad: false, cd: false, rcode: 0 },
    questions: [{ name: parseName('Example.test.'), type: pick(random, [TYPE.SOA, TYPE.AXFR]), class: 1 }],
    answers: Array.from({ length: below(pick(random, [2, 100])) }, (_, i) => txt(i)),
    authorities: [],
    additionals: [],
    ...(below(2) === 0 ? {} : { edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] } }),
  });
  return message;
}

function sign(requestMac: Uint8Array, count: number): Exchange {
  const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex');
  const exchange: Exchange = {
    algorithm: pick(random, ALGORITHMS),
    requestMac: hex(requestMac),
    messages: [],
  };
  const key = keyOf(exchange);
  if (requestMac.length === 0) {
    const { message } = signMessage(randomMessage(false), key, { nowSeconds: NOW });
    return { ...exchange, messages: [hex(message)] };
  }
  const signer = new TsigStreamSigner(key, requestMac);
  return {
    ...exchange,
    messages: Array.from({ length: count }, (_, i) => hex(signer.sign(randomMessage(true), NOW + (i % 3)))),
  };
}

/** Returns the reasons why messages are not accepted. */
function rejected(exchange: Exchange): string[] {
  const messages = exchange.messages.map((hex) => Buffer.from(hex, 'hex'));
  const mac = Buffer.from(exchange.requestMac, 'hex');
  const verifier = new TsigStreamVerifier(keyOf(exchange), mac);
  return messages.flatMap((message) => {
    const result = mac.length > 0 ? verifier.accept(message, NOW) : readTsig(message);
    if (result.kind !== 'found') return result.kind === 'ok' ? [] : [result.kind];
    const verified = verifyRequest(message, result.tsig, keyOf(exchange), NOW);
    return verified.kind === 'ok' ? [] : [`error ${verified.error}`];
  });
}

it.skipIf(spawnSync(PYTHON, ['-c', 'import dns.tsig']).status !== 0)(
  'dnspython verifies 200 signed messages, and 200 messages that it signed are verified',
  () => {
    const ours = [
      ...Array.from({ length: 80 }, () => sign(new Uint8Array(0), 1)),
      ...Array.from({ length: 40 }, () => sign(SECRET.subarray(0, 32), 1)),
      ...Array.from({ length: 8 }, () => sign(SECRET.subarray(8), 10)),
    ];
    expect(ours.flatMap(rejected)).toEqual([]);
    const output = execFileSync(PYTHON, ['-c', SCRIPT], { input: JSON.stringify(ours), maxBuffer: 2 ** 26 });
    const theirs = JSON.parse(output.toString()) as Exchange[];
    expect(theirs.flatMap(({ messages }) => messages)).toHaveLength(200);
    expect(theirs.flatMap(rejected)).toEqual([]);
  },
);
