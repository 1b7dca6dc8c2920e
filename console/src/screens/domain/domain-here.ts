// The domain that a page is about, shared by all pages of one domain.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';

export type Domain = Schemas['Domain'];

interface DomainHere {
  /** As in the path: the name that calls take. */
  readonly name: string;
  readonly domain: Domain;
  /** Puts in what a write answered. */
  readonly setDomain: (domain: Domain) => void;
  readonly reloadDomain: () => Promise<void>;
}

export const Here = createContext<DomainHere | undefined>(undefined);

/** The domain whose page this is. */
export function useDomain(): DomainHere {
  const here = useContext(Here);
  if (here === undefined) throw new Error('this is no page of a domain');
  return here;
}

export function mayDo(domain: Domain, permission: string): boolean {
  return (domain.my_permissions as readonly string[] | undefined)?.includes(permission) === true;
}
