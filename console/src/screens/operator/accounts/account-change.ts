// The operator's changes of an account. Only changed fields are sent, so that concurrent changes of others are kept.

export interface AccountFields {
  readonly email: string;
  readonly name?: string | undefined;
  readonly admin: boolean;
  readonly reseller: boolean;
  readonly provider?: number | undefined;
  readonly active: boolean;
  readonly plan?: string | undefined;
}

/** Fields as typed. Empty text means no value. */
export interface AccountForm {
  readonly email: string;
  readonly name: string;
  readonly provider: string;
  readonly plan: string;
  readonly admin: boolean;
  readonly reseller: boolean;
  readonly active: boolean;
}

export interface AccountChange {
  email?: string;
  name?: string | null;
  admin?: boolean;
  reseller?: boolean;
  provider?: number | null;
  active?: boolean;
  plan?: string | null;
}

export function formOf(account: AccountFields): AccountForm {
  const { email, name = '', provider, plan = '', admin, reseller, active } = account;
  return {
    email,
    name,
    provider: provider === undefined ? '' : String(provider),
    plan,
    admin,
    reseller,
    active,
  };
}

/** `edited` has the fields that were edited. */
export function changeOf(account: AccountFields, edited: Partial<AccountForm>): AccountChange {
  const was = formOf(account);
  const is = { ...was, ...edited };
  const [name, provider] = [is.name.trim(), is.provider.trim()];
  return {
    ...(is.email.trim() !== was.email && { email: is.email.trim() }),
    ...(name !== was.name && { name: name === '' ? null : name }),
    ...(provider !== was.provider && { provider: numberIn(provider) }),
    ...(is.plan !== was.plan && { plan: is.plan === '' ? null : is.plan }),
    ...(is.admin !== was.admin && { admin: is.admin }),
    ...(is.reseller !== was.reseller && { reseller: is.reseller }),
    ...(is.active !== was.active && { active: is.active }),
  };
}

/** Text that is not a number is sent unchanged, so that the API names the field. */
function numberIn(text: string): number | null {
  if (text === '') return null;
  return /^\d+$/.test(text) ? Number(text) : (text as unknown as number);
}
