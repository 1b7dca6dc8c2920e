// Reloads the records when someone else changes them, so that conflicts are shown while editing and not only at the save.

import { useEffect, useRef } from 'preact/hooks';
import { followDomain } from '../../api/events.ts';
import { touchesRecords } from './live-change.ts';

/** Collects several changes into one reload. */
const REST_MS = 400;

/** `ownChange` was saved here and is already loaded. */
export function useLive(domain: string, ownChange: number | undefined, onChange: () => void): void {
  const latest = useRef({ ownChange, onChange });
  latest.current = { ownChange, onChange };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = followDomain(domain, ({ type, data }) => {
      const isOther =
        type === 'reset' || (type === 'change' && touchesRecords(data, latest.current.ownChange));
      if (!isOther) return;
      clearTimeout(timer);
      timer = setTimeout(() => latest.current.onChange(), REST_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [domain]);
}
