// Runs the client that transfers zones in its own process.

import { fileURLToPath } from 'node:url';
import type { TransferKey } from '../../test/support/peers/transfer-peers.ts';
import { type Program, runProgram } from '../program.ts';

export interface TransferOrder {
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Signs the query. Undefined if the transfer is not signed. */
  readonly key: (TransferKey & { readonly algorithm: 'hmac-sha256' }) | undefined;
  readonly apex: string;
  /** Serial from which the differences are requested. Undefined for the whole zone. */
  readonly serial?: number;
  /** Number of records of the whole answer, including repeated SOA records. The transfer ends when they have arrived. */
  readonly records: number;
}

export interface TransferReply {
  /** From the query until the last record. */
  readonly ms: number;
  readonly octets: number;
  readonly messages: number;
  readonly records: number;
}

const PROGRAM = fileURLToPath(new URL('./transferring-process.ts', import.meta.url));

export class TransferClient {
  readonly #program: Program;

  constructor(cpu: number | undefined) {
    this.#program = runProgram([process.execPath, '--import', 'tsx', PROGRAM], { cpu, ipc: true });
  }

  /** One transfer at a time. */
  transfer(order: TransferOrder): Promise<TransferReply> {
    const { child } = this.#program;
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error(`the client ended:\n${this.#program.output()}`));
      child.once('exit', onExit);
      child.once('message', (reply: TransferReply | { readonly error: string }) => {
        child.off('exit', onExit);
        if ('error' in reply) reject(new Error(`transfer from port ${order.port}: ${reply.error}`));
        else resolve(reply);
      });
      child.send(order);
    });
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }
}
