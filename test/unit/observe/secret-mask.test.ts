import assert from 'node:assert/strict';
import { SecretMask } from '../../../src/observe/secret-mask.ts';

function masked(secrets: readonly string[], text: string): string {
  const mask = new SecretMask();
  for (const secret of secrets) mask.add(secret);
  return mask.hide(text);
}

describe('a secret mask', () => {
  it('leaves text alone while it knows nothing', () => {
    assert.equal(masked([], 'password'), 'password');
  });

  it('hides a value everywhere, the longest first', () => {
    assert.equal(
      masked(['hunter22', 'hunter22-and-more'], 'a=hunter22-and-more,b=xhunter22x'),
      'a=[hidden],b=x[hidden]x',
    );
  });

  it('hides short values as whole words, and no value of three characters', () => {
    assert.equal(masked(['test', 'abc'], 'test tests attest "test" abc'), '[hidden] tests attest "[hidden]" abc');
  });

  it('hides values as JSON and URLs spell them, without their blanks, and single lines of them', () => {
    const secret = 'quote"back\\slash and blank';
    assert.equal(masked([secret], JSON.stringify({ secret })), '{"secret":"[hidden]"}');
    assert.equal(masked([secret], `jdbc:db://u:${encodeURIComponent(secret)}@h`), 'jdbc:db://u:[hidden]@h');
    assert.equal(masked(['  padded-value\n'], 'padded-value'), '[hidden]');
    assert.equal(masked(['-----BEGIN\nMIIEvQIBADAN\n'], 'not base64: MIIEvQIBADAN'), 'not base64: [hidden]');
  });

  it('takes characters of patterns as they are', () => {
    assert.equal(masked(['a.b*c(d)[e]$'], 'a.b*c(d)[e]$ axbbc'), '[hidden] axbbc');
  });

  it('forgets the oldest values beyond a thousand', () => {
    const secrets = Array.from({ length: 5000 }, (_, index) => `secret-number-${String(index).padStart(5, '0')}`);
    assert.equal(masked(secrets, 'secret-number-04999'), '[hidden]');
    assert.equal(masked(secrets, 'secret-number-00000'), 'secret-number-00000');
  });
});
