// Lists the tasks of agents.

import { exchangeUdp } from '../answer/sockets.ts';
import { comparePaths } from './compare-paths.ts';
import { detachProgram } from './detach-program.ts';
import { countWithCookie, echoUdp, floodQueries, queryUntilAnswered, sendBurst } from './query-tasks.ts';
import { sendEveryLength, sendMutated, sendOptions } from './send-frames.ts';
import { receiveStream, sendStream } from './stream-tasks.ts';

export const TASKS = {
  comparePaths,
  countWithCookie,
  detachProgram,
  echoUdp,
  exchangeUdp,
  floodQueries,
  queryUntilAnswered,
  receiveStream,
  sendBurst,
  sendEveryLength,
  sendMutated,
  sendOptions,
  sendStream,
};
