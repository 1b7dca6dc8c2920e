// English texts of the line that adds a record, and of pasted zone files.

export const quickAdd = {
  label: 'Add a record as text',
  placeholder: 'Add as text: www A 192.0.2.1',
  hint: 'Enter a name, a type and a value. You can also paste or drop a zone file anywhere on this page.',
  add: 'Add',
  added: (name: string, type: string) => `${name} ${type} was added to the unsaved changes.`,
  preview: 'This record will be added:',
  notZone: 'This text is not a zone file or Route 53 JSON, so it was not imported.',
  drop: 'Drop the zone file to review its records',
  problems: {
    noType: () => 'Enter the type after the name, for example A, CNAME or TXT.',
    noName: (type: string) => `Enter a name and a value for the ${type} record.`,
    noValue: (type: string) => `Enter the value of the ${type} record.`,
    noPart: (part: string) => `The value is not complete. Missing: ${part}.`,
    noPriority: () => 'Enter the priority before the mail server, for example 10.',
    unknownType: (text: string) => `“${text}” is not a record type.`,
    unknownWord: (text: string) => `“${text}” is neither a TTL nor a type.`,
    otherClass: (text: string) => `The class “${text}” is not supported. Omit it, or use IN.`,
    notIpv4: (text: string) => `“${text}” is not an IPv4 address.`,
    notIpv6: (text: string) => `“${text}” is not an IPv6 address.`,
  },
};
