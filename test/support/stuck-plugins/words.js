/** Takes time that is exponential in the length of a text which is not only words. */
const WORDS = /^(\w+\s?)*$/;

class Words {
  apply(record) {
    return { ...record, value: WORDS.test(record.value) ? record.value : 'no words' };
  }
}

export const words = {
  type: 'transformation',
  className: 'com.example.Words',
  options: {},
  create: () => new Words(),
};
