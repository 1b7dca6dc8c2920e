// Faults of the network and of the process while a node answers over XDP: malformed frames, full rings, an interface that
// goes down, a detached program, a killed process. Other traffic of the interface is not affected.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { assemble, queryFor, summarize } from '../../support/answer/packets.ts';
import { ADDRESSES, XDP_INTERFACE } from '../../support/network/linked-hosts.ts';
import { NEEDS_NETWORKS } from '../../support/network/namespace.ts';
import { XdpLab } from '../../support/network/xdp-lab.ts';
import { DNS_PORT, type XdpNode } from '../../support/network/xdp-node.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';

const MUTATED = scale(2_000_000, 100_000);
const MEBIBYTES = scale(500, 100);
const FLOOD = scale(3_200_000, 512_000);
const BURST = 20_000; // the rings have space for a few thousand frames
/** One second of tries. */
const TRIES = 10;
const SERVER = { address: ADDRESSES.xdp.ipv4, port: DNS_PORT };
const KERNEL = { address: ADDRESSES.kernel.ipv4, port: DNS_PORT };
const from = (port: number) => ({ address: ADDRESSES.client.ipv4, port });

describe.skipIf(NEEDS_NETWORKS !== '')(`a node that answers over XDP${NEEDS_NETWORKS}`, () => {
  let lab: XdpLab;
  let node: XdpNode;

  beforeAll(async () => {
    lab = await XdpLab.create();
    node = await lab.startNode();
  });

  afterAll(async () => {
    await lab?.remove();
  });

  /** No thread has ended, and every query of a comparison is answered over XDP. */
  async function expectSound(): Promise<void> {
    expect(node.log()).not.toMatch(/"level":[56]0/);
    expect(await lab.hasProgram()).toBe(true);
    const { examples } = await lab.client.do('comparePaths', {
      count: 2000,
      seed: 2,
      ...(await lab.target()),
    });
    expect(examples).toEqual([]);
  }

  it('survives malformed frames of every length', async () => {
    expect(await lab.client.do('sendEveryLength', await lab.target())).toBeGreaterThan(26_000);
    await expectSound();
  });

  it('survives mutated frames', async () => {
    const sent = await lab.client.do('sendMutated', await lab.target(), MUTATED, 20_412);
    expect(sent).toBeGreaterThan(MUTATED / 2);
    await expectSound();
  });

  it('loses no frame if more arrive than the rings hold', async () => {
    const answered: number[] = [];
    for (let i = 0; i < 10; i++) {
      node.child.kill('SIGSTOP');
      await until(() => statesOf(node.child.pid).every((state) => state === 'T'), 'all threads are stopped');
      await lab.client.do('sendBurst', from(6000), SERVER, BURST);
      node.child.kill('SIGCONT');
      answered.push(await lab.client.do('sendBurst', from(6000), SERVER, 0));
    }
    expect(answered[0]).toBeGreaterThan(1000);
    expect(answered[0]).toBeLessThan(BURST);
    expect(answered).toEqual(answered.map(() => answered[0]));
    await expectSound();
  });

  it('answers again after the interface was down', async () => {
    await lab.hosts.server.run('ip', 'link', 'set', XDP_INTERFACE, 'down');
    await expect(lab.client.do('queryUntilAnswered', SERVER, 2)).rejects.toThrow('does not answer');
    await lab.hosts.server.run('ip', 'link', 'set', XDP_INTERFACE, 'up');
    await lab.hosts.restoreAddresses();
    await lab.client.do('queryUntilAnswered', SERVER, 50);
    await expectSound();
  });

  it('leaves TCP, ping and other UDP ports of the interface alone during a flood', async () => {
    const stream = { address: SERVER.address, port: 7000 };
    const echo = { address: SERVER.address, port: 7001 };
    const flooder = lab.startClient();
    const flood = flooder.do('floodQueries', from(6001), SERVER, FLOOD);
    const received = lab.server.do('receiveStream', stream);
    void lab.server.do('echoUdp', echo, 3);
    const sent = await lab.client.do('sendStream', stream, MEBIBYTES);
    expect(await received).toBe(sent);
    for (let i = 0; i < 3; i++)
      expect(await lab.client.do('exchangeUdp', echo, Buffer.from(`echo ${i}`))).toEqual(
        Buffer.from(`echo ${i}`),
      );
    await lab.hosts.client.run('ping', '-c', '3', '-W', '10', SERVER.address);
    await lab.hosts.client.run('ping', '-c', '3', '-W', '10', ADDRESSES.xdp.ipv6);
    expect(await flood).toBe(FLOOD);
    flooder.stop();
    await expectSound();
  });

  it('answers fragments and IP options through the kernel', async () => {
    const padding = `12:${'00'.repeat(2500)}`;
    const long = queryFor('www.example.test.', 1, { opt: padding });
    for (const address of [ADDRESSES.xdp.ipv4, ADDRESSES.xdp.ipv6]) {
      const answer = await lab.client.do('exchangeUdp', { address, port: DNS_PORT }, long);
      expect(summarize(answer ?? Buffer.alloc(0))).toBe('NOERROR aa 1/1/0/0 OPT()');
    }
    expect(await lab.client.do('sendOptions', await lab.target())).toBe(0);
  });

  it('answers over TCP, and transfers zones', async () => {
    const dig = async (...words: readonly string[]) =>
      await lab.hosts.client.run('dig', `@${SERVER.address}`, '+tries=1', ...words);
    expect(await dig('+tcp', '+short', 'www.example.test', 'A')).toBe('192.0.2.3\n');
    expect(await dig('+noall', '+answer', 'example.test', 'AXFR')).toContain('ns12.sub.example.test.');
  });

  it.each([
    [
      'IXFR',
      '1234 0000 0001 0000 0001 0000 "example.test." 00fb 0001 "example.test." 0006 0001 00000000 0016 00 00 00000001 00000000 00000000 00000000 00000000',
    ],
    ['NOTIFY', '1234 2400 0001 0000 0000 0000 "example.test." 0006 0001'],
    [
      'UPDATE',
      '1234 2800 0001 0000 0001 0000 "example.test." 0006 0001 "a.example.test." 0001 0001 0000003c 0004 c0000205',
    ],
    [
      'a query with TSIG',
      '1234 0000 0001 0000 0000 0001 "example.test." 0006 0001 "a.key." 00fa 00ff 00000000 001d "hmac-sha256." 000000000001 012c 0000 1234 0000 0000',
    ],
  ])('passes %s to the thread that answers it from the kernel’s path', async (_, text) => {
    const answers: string[] = [];
    for (const to of [SERVER, KERNEL, { ...SERVER, address: ADDRESSES.xdp.ipv6 }]) {
      const answer = await lab.client.do('exchangeUdp', to, assemble(text));
      answers.push(answer === undefined ? 'silence' : describeAnswer(answer));
    }
    expect(answers[0]).not.toBe('silence');
    expect(answers).toEqual(answers.map(() => answers[1]));
  });

  it('hands over to the kernel’s path if the program is detached', async () => {
    expect(await lab.server.do('detachProgram', node.child.pid as number)).toBe(1);
    expect(await lab.hasProgram()).toBe(false);
    expect(await lab.client.do('queryUntilAnswered', SERVER, TRIES)).toBeLessThanOrEqual(TRIES);
    expect(node.log()).not.toMatch(/"level":[56]0/);
  });

  it('leaves no program behind if it is killed, so that the next process answers through the kernel', async () => {
    await node.stop();
    node = await lab.startNode();
    expect(await lab.hasProgram()).toBe(true);
    await node.stop('SIGKILL');
    await until(async () => !(await lab.hasProgram()), 'the program is gone');
    const next = await lab.startNode({ DNS_IO: 'koffi' });
    expect(await lab.client.do('queryUntilAnswered', SERVER, TRIES)).toBeLessThanOrEqual(TRIES);
    await next.stop();
    node = await lab.startNode();
    await expectSound();
  });
});

function describeAnswer(answer: Uint8Array): string {
  const { opcode } = decodeMessage(answer);
  return `${opcode} ${summarize(answer)}`;
}

/** Returns the state of each thread of a process. */
function statesOf(pid: number | undefined): (string | undefined)[] {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).map((id) => /\) (\w)/.exec(readFileSync(`${threads}/${id}/stat`, 'utf8'))?.[1]);
}
