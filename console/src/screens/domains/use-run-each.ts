// Progress of one call per item, which the person can stop.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type EachResult, runEach } from './run-each.ts';

export interface EachRun<T> {
  readonly isRunning: boolean;
  readonly total: number;
  readonly results: readonly EachResult<T>[];
  /** Resolves to the results when all items are done or the person has stopped. */
  readonly start: (items: readonly T[], call: (item: T) => Promise<unknown>) => Promise<EachResult<T>[]>;
  readonly end: () => void;
}

export function useRunEach<T>(): EachRun<T> {
  const [state, setState] = useState({ isRunning: false, total: 0, results: [] as EachResult<T>[] });
  const isEnded = useRef(false);
  useEffect(
    () => () => {
      isEnded.current = true;
    },
    [],
  );
  return {
    ...state,
    async start(items, call) {
      isEnded.current = false;
      const results: EachResult<T>[] = [];
      setState({ isRunning: true, total: items.length, results });
      await runEach(items, {
        call,
        isEnded: () => isEnded.current,
        pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        onResult(result) {
          results.push(result);
          setState({ isRunning: true, total: items.length, results: [...results] });
        },
      });
      setState({ isRunning: false, total: items.length, results });
      return results;
    },
    end() {
      isEnded.current = true;
    },
  };
}
