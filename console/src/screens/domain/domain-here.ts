// The current domain, shared by all its pages.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';

export type Domain = Schemas['Domain'];

interface DomainHere {
  /** The name in the path, which API calls take. */
  readonly name: string;
  readonly domain: Domain;
  /** Sets the domain to the response of a write. */
  readonly setDomain: (domain: Domain) => void;
  readonly reloadDomain: () => Promise<void>;
}

export const Here = createContext<DomainHere | undefined>(undefined);

/** Returns the domain of the current page. */
export function useDomain(): DomainHere {
  const here = useContext(Here);
  if (here === undefined) throw new Error('this is no page of a domain');
  return here;
}

export function mayDo(domain: Domain, permission: string): boolean {
  return (domain.my_permissions as readonly string[] | undefined)?.includes(permission) === true;
}
