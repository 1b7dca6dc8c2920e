// Queries one address of a nameserver to find out if it serves the zone: SOA and NS, and the SOA over TCP and without EDNS.

import type { EdnsOutcome, ProbeReply, SoaFields } from '../../checks/child/evidence.ts';
import { foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { AskedWay, QueryResult } from '../exchange/exchange.ts';
import { type ClassifiedReply, classifyReply, namesIn } from '../replies/classify-reply.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import { sendQuestion } from '../walk/send-question.ts';

export const UNASKED: ProbeReply = { outcome: 'unasked' };

export interface Asking {
  readonly state: ResolverState;
  readonly work: Work;
  readonly domain: Name;
}

interface Probed {
  readonly reply: ProbeReply;
  readonly result: QueryResult | undefined;
}

/** `unasked`: a limit was reached first. */
export async function probe(
  asking: Asking,
  address: string,
  type: number,
  way: AskedWay = {},
): Promise<ProbeReply> {
  return (await ask(asking, address, type, way)).reply;
}

/** Queries the SOA over UDP. Without a reply, repeats the query without EDNS, which some servers and firewalls drop. */
export async function probeSoa(
  asking: Asking,
  address: string,
): Promise<{ readonly soa: ProbeReply; readonly edns: EdnsOutcome }> {
  const { reply: soa, result } = await ask(asking, address, TYPE.SOA, {});
  if (result?.kind === 'reply')
    return { soa, edns: result.needed?.includes('no_edns') ? 'refused' : 'works' };
  if (result?.kind !== 'timeout') return { soa, edns: 'unknown' };
  const plain = await ask(asking, address, TYPE.SOA, { edns: false });
  return plain.result?.kind === 'reply' ? { soa: plain.reply, edns: 'silent' } : { soa, edns: 'unknown' };
}

async function ask(
  { state, work, domain }: Asking,
  address: string,
  type: number,
  way: AskedWay,
): Promise<Probed> {
  const question = { name: domain, type };
  try {
    const result = await sendQuestion(state, work, state.around, {
      address,
      question,
      isExact: true, // no fallback: the probe tests this transport
      ...way,
    });
    switch (result.kind) {
      case 'reply':
        return { reply: replyOf(classifyReply(result.message, question, domain), type), result };
      case 'timeout':
        return { reply: { outcome: 'timeout' }, result };
      case 'bad':
        return { reply: { outcome: 'bad', error: result.error }, result };
      default:
        return result satisfies never;
    }
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { reply: UNASKED, result: undefined };
  }
}

function replyOf(reply: ClassifiedReply, type: number): ProbeReply {
  if (reply.kind === 'answer') {
    if (type === TYPE.NS) return { outcome: 'answer', ns: namesIn(reply.rdata) };
    return { outcome: 'answer', soa: soaOf(reply.rdata[0] as Uint8Array) };
  }
  return { outcome: reply.kind, ...('error' in reply && { error: reply.error }) };
}

/** The rdata was validated when the message was parsed. */
function soaOf(rdata: Uint8Array): SoaFields {
  const mname = nameInRdata(rdata);
  const rname = nameInRdata(rdata, mname.length);
  const view = new DataView(rdata.buffer, rdata.byteOffset + mname.length + rname.length);
  const [serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0] = [0, 4, 8, 12, 16].map((at) =>
    view.getUint32(at),
  );
  return { mname: foldCase(mname), rname: foldCase(rname), serial, refresh, retry, expire, minimum };
}
