// A transfer thread for tests. Answers each message with its own octets, exits at the message `exit`, and logs the
// other messages.

import { parentPort } from 'node:worker_threads';
import type { FromTransferThread, ToTransferThread } from '../../../src/nameserver/transfer/messages.ts';

const post = (message: FromTransferThread) => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToTransferThread) => {
  if (message.kind === 'message') {
    const { id, octets } = message.message;
    if (Buffer.from(octets).toString() === 'exit') process.exit(3); // ends only the thread
    post({ kind: 'answer', id, octets, isLast: true });
  } else if (message.kind === 'stop') post({ kind: 'stopped' });
  else post({ kind: 'log', level: 'info', fields: message, message: 'received' });
});
post({ kind: 'networks', networks: [{ address: Uint8Array.of(192, 0, 2, 0), prefix: 24 }] });
post({ kind: 'active', watches: true });
