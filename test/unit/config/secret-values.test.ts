import assert from 'node:assert/strict';
import { isSecretValue, passwordsWithin } from '../../../src/config/secret-values.ts';

describe('secret values', () => {
  it('are recognized by the names of undeclared keys, ignoring case', () => {
    const keys = ['My.Api.Secret', 'CONNECTION.PASSWORD', 'my.api.token', 'api_key', 'apikey', 'aws.secret.access.key'];
    const more = ['private.key', 'pwd', 'db.pass', 'creds', 'AccountKey', 'my.Passphrase', 'x.basic.auth.user.info'];
    for (const key of [...keys, ...more]) assert.ok(isSecretValue(key, 'correct horse', undefined), key);
    for (const key of ['topics', 'compass', 'my.bypass.mode', 'key.converter', 'connection.url', 'pass.through'])
      assert.ok(!isSecretValue(key, 'correct horse', undefined), key);
  });

  it('are recognized by a password anywhere in them, regardless of the declared type', () => {
    const values = {
      'jdbc:db://user:horse@127.0.0.1:1/x': 'horse',
      'postgres://u:p/horse@h/x': 'p/horse',
      'postgres://u:a@horse@h/x': 'a@horse',
      'https://h/?sslpassword=horse&x=1': 'horse',
      'https://h/?access_token=horse': 'horse',
      'host=x user=y password=horse dbname=z': 'horse',
      'Authorization: Bearer horse-staple': 'horse-staple',
      'Basic aG9yc2U6c3RhcGxl': 'aG9yc2U6c3RhcGxl',
      'Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=horse': 'horse',
      '{"user":"u","password": "horse"}': 'horse',
      'PlainLoginModule required username="u" password="horse";': 'horse',
    };
    for (const [value, password] of Object.entries(values)) {
      assert.ok(isSecretValue('x', value, 'STRING'), value);
      assert.ok(passwordsWithin(value).includes(password), value);
    }
    assert.ok(isSecretValue('x', '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', undefined));
  });

  it('do not include values that only look similar', () => {
    const values = ['jdbc:db://h:5432/db?mail=a@b', 'h:9092,i:9092', 'password:pw,token:t', '${file:/x:password}'];
    for (const value of [...values, 'Basic', 'tokenized words', 'jdbc:x://ann:${env:PW}@db/x?password=${env:PW}'])
      assert.ok(!isSecretValue('x', value, 'STRING'), value);
  });

  it('are recognized in linear time', () => {
    const took = (count: number): number => {
      const beganAt = process.cpuUsage().user;
      for (const part of [
        '//:a',
        '//',
        ':@',
        '"password":',
        'password=',
        'a.',
        ' ',
        '-----BEGIN ',
        'authorization: basic',
      ])
        passwordsWithin(part.repeat(count / part.length));
      return process.cpuUsage().user - beganAt;
    };
    took(100_000);
    assert.ok(took(1_000_000) < 40 * took(100_000) + 1_000_000);
  });
});
