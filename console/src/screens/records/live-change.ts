// Decides whether an event concerns the shown records.

interface ChangeEvent {
  readonly id: number;
  readonly records: Readonly<Record<string, number>>;
}

export function touchesRecords(data: unknown, ownChange: number | undefined): boolean {
  if (typeof data !== 'object' || data === null) return true;
  const { id, records } = data as Partial<ChangeEvent>;
  if (id !== undefined && ownChange !== undefined && id <= ownChange) return false;
  return records === undefined || Object.values(records).some((count) => count > 0);
}
