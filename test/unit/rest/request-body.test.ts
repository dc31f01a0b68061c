import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { mapOf, TEXT } from '../../../src/json/open-api.ts';
import { validatorOf } from '../../../src/json/validator.ts';
import { errorAnswer } from '../../../src/rest/error-mapping.ts';
import { checkBody, readConfig, readPlainJson } from '../../../src/rest/request-body.ts';

function requestOf(body: string, contentType = 'application/json'): IncomingMessage {
  return Object.assign(Readable.from([Buffer.from(body)]), {
    headers: { 'content-type': contentType },
  }) as unknown as IncomingMessage;
}

async function refusal(work: Promise<unknown>): Promise<{ status: number; message: string }> {
  const thrown: unknown = await work.then(
    () => assert.fail('it was taken'),
    (error: unknown) => error,
  );
  const { status, body } = errorAnswer(thrown);
  return { status, message: body.message };
}

describe('bodies of requests', () => {
  it('are refused with 400 and without a word of them where they are no JSON', async () => {
    // The first reader takes leading zeros, as Java does.
    const login = '{"user": "ann", "password": "correct horse", "attempt": 007}';
    assert.deepEqual(await refusal(readPlainJson(requestOf(login))), {
      status: 400,
      message: 'The request body is not JSON',
    });
    const broken = await refusal(readPlainJson(requestOf('{"password": "correct horse", ')));
    assert.equal(broken.status, 400);
    assert.doesNotMatch(broken.message, /correct|horse/);
  });

  it('are refused with 400 where they are nested 100,000 times, or are a megabyte of what is not expected', async () => {
    for (const body of ['['.repeat(100_000), '{"a":'.repeat(100_000), `${'['.repeat(1e5)}${']'.repeat(1e5)}`]) {
      for (const read of [readPlainJson, readConfig]) {
        const { status, message } = await refusal(read(requestOf(body)));
        assert.equal(status, 400);
        assert.match(message, /more than 1000 levels of nesting/);
      }
    }
    const name = 'n'.repeat(1_000_000);
    const { status, message } = await refusal(readConfig(requestOf(JSON.stringify({ [name]: [] }))));
    assert.equal(status, 400);
    assert.ok(message.length < 1000, String(message.length));
  });

  it('are refused at the first thing that is wrong, however many there are', () => {
    const isMap = validatorOf(mapOf(TEXT));
    const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key-${String(index)}`, 1]));
    assert.throws(() => checkBody(isMap, body), /The value at \/key-0 must be string/);
    assert.equal(isMap.errors?.length, 1);
  });

  it('are refused with 400 where a configuration has more keys or transforms than any that is meant', async () => {
    const many = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`key-${String(index)}`, 'value']));
    const { status, message } = await refusal(readConfig(requestOf(JSON.stringify(many))));
    assert.deepEqual([status, message], [400, 'A configuration has at most 5000 keys, and this one 5001']);
    const chain = await refusal(readConfig(requestOf(JSON.stringify({ transforms: 'a,'.repeat(500) }))));
    assert.deepEqual([chain.status, chain.message], [400, 'transforms has more than 500 names']);
  });

  it('have keys that objects have anyway, and nothing else comes of them', async () => {
    const text = '{"__proto__": "a", "constructor": "b", "toString": "c"}';
    const config = await readConfig(requestOf(text));
    assert.deepEqual(Object.entries(config), [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    assert.equal(Object.getPrototypeOf(config), Object.prototype);
  });

  it('are refused with 413 where they have more than 8 MB, and with 415 where they are not said to be JSON', async () => {
    assert.equal((await refusal(readConfig(requestOf(' '.repeat(8 * 1024 * 1024 + 1))))).status, 413);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
      'application/jsonp',
    ])
      assert.equal((await refusal(readConfig(requestOf('{}', type)))).status, 415, type);
  });
});
