// Loads the records again when somebody else changes them, so that a conflict is told while typing and not at the save.

import { useEffect, useRef } from 'preact/hooks';
import { followDomain } from '../../api/events.ts';
import { touchesRecords } from './live-change.ts';

/** Several changes in a row are one look. */
const REST_MS = 400;

/** `ownChange`: what was just saved here, and is loaded already. */
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
