// Simulates a bug of the nameserver, which loads this file with `--import`: answering a query with the id 48879 throws.

const FAULTY_ID = 48_879;
const { getUint16 } = DataView.prototype;

DataView.prototype.getUint16 = function (...args) {
  const value = getUint16.apply(this, args);
  if (value === FAULTY_ID) throw new Error('a simulated bug');
  return value;
};
