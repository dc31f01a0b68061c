import assert from 'node:assert/strict';
import { fail, ok } from '../../../../src/data/finding.ts';
import { examine } from '../../../../src/cli/doctor/examination.ts';
import { textReport, worstOf } from '../../../../src/cli/doctor/report.ts';
import { learnSecrets } from '../../../../src/cli/doctor/secrets.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';

describe('what the doctor looks at', () => {
  it('is abandoned after a time limit, and reported as such', async () => {
    let aborted = false;
    const look = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => (aborted = true));
      return new Promise<never>(() => undefined);
    };
    assert.deepEqual(await examine('a plugin', look, 20), [fail('a plugin', 'no answer within 0.02 s')]);
    assert.equal(aborted, true);
  });

  it('may fail in any way, which is a finding', async () => {
    assert.deepEqual(await examine('a plugin', () => Promise.reject(new Error('no route'))), [
      fail('a plugin', 'no route'),
    ]);
  });
});

describe('the report of the doctor', () => {
  it('hides what properties keep secret, and shows no commands to the terminal', () => {
    const secrets = new SecretMask();
    const jaas =
      'org.apache.kafka.common.security.plain.PlainLoginModule required username="al" password="of-al-alone";';
    learnSecrets(
      { 'sasl.jaas.config': jaas, 'x.password': 'word-of-x', 'connection.url': 'postgresql://u:in-the-url@h/d' },
      secrets,
    );
    const said = `\x1b[2J of-al-alone word-of-x in-the-url h\nnext`;
    const sections = [{ name: 'Kafka', findings: [ok('brokers', 'well'), fail('login', said, 'fix it')] }];
    assert.equal(
      textReport(sections, secrets, false),
      'Kafka\n  ok    brokers: well\n  fail  login: ?[2J [hidden] [hidden] [hidden] h next\n        fix: fix it\n\n' +
        '1 ok, 0 to look at, 1 to fix\n',
    );
    assert.equal(worstOf(sections), 'fail');
  });

  it('hides private keys and the logins of registries, but shows names of files and servers', () => {
    const secrets = new SecretMask();
    learnSecrets(
      {
        'consumer.ssl.keystore.key': '-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBg\n-----END PRIVATE KEY-----',
        'value.converter.basic.auth.user.info': 'registry-user:registry-word',
        'api.key': 'key-of-the-api',
        'connection.url': 'postgresql://h/d?user=u&password=in-a-parameter',
        'database.http.tls.key': '/etc/sluice/tls.pem',
        'ssl.keystore.location': '/etc/sluice/keystore.pem',
        'sasl.oauthbearer.token.endpoint.url': 'https://login.example.org/token',
      },
      secrets,
    );
    assert.equal(
      secrets.hide('MIIEvAIBADANBg, registry-user:registry-word, key-of-the-api, in-a-parameter'),
      '[hidden], [hidden], [hidden], [hidden]',
    );
    const shown = '/etc/sluice/tls.pem /etc/sluice/keystore.pem https://login.example.org/token postgresql://h/d';
    assert.equal(secrets.hide(shown), shown);
  });
});
