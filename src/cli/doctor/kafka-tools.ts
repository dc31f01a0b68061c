import type { AclOperation, ClientProperties } from '../../kafka/api.ts';
import { parseJaas } from '../../tls/jaas.ts';

type Resource = 'topic' | 'group' | 'transactional-id' | 'cluster';

/** Builds commands of Kafka's command-line tools, for the brokers and the user that the properties of a client name. */
export class KafkaTools {
  readonly #where: string;
  readonly #principal: string;

  constructor(properties: ClientProperties) {
    const servers = properties['bootstrap.servers'] ?? '';
    const secured = (properties['security.protocol'] ?? 'PLAINTEXT').toUpperCase() !== 'PLAINTEXT';
    this.#where = `--bootstrap-server ${word(servers)}${secured ? ' --command-config admin.properties' : ''}`;
    this.#principal = `User:${userOf(properties) ?? 'NAME'}`;
  }

  allow(operations: readonly AclOperation[], resource: Resource, name: string, prefixed = false): string {
    const wanted = operations.map((operation) => `--operation ${operation}`).join(' ');
    const on = resource === 'cluster' ? '--cluster' : `--${resource} ${word(name)}`;
    const pattern = prefixed ? ' --resource-pattern-type prefixed' : '';
    const principal = `--allow-principal ${word(this.#principal)}`;
    return `kafka-acls.sh ${this.#where} --add ${principal} ${wanted} ${on}${pattern}`;
  }

  setTopic(topic: string, setting: string): string {
    const entity = `--entity-type topics --entity-name ${word(topic)}`;
    return `kafka-configs.sh ${this.#where} --alter ${entity} --add-config ${word(setting)}`;
  }

  createTopic(topic: string, more = ''): string {
    return `kafka-topics.sh ${this.#where} --create --topic ${word(topic)}${more}`;
  }

  describeTopic(topic: string): string {
    return `kafka-topics.sh ${this.#where} --describe --topic ${word(topic)}`;
  }
}

/**
 * The user name in the SASL settings of a client. `undefined`: there is none, because the broker derives the user from
 * the TLS certificate, or because the settings cannot be parsed.
 */
function userOf(properties: ClientProperties): string | undefined {
  try {
    const { options } = parseJaas(properties['sasl.jaas.config'] ?? '');
    return options['username'] ?? options['unsecuredLoginStringClaim_sub'] ?? options['clientId'];
  } catch {
    return undefined;
  }
}

/** Quotes a text as one word for a shell. */
function word(text: string): string {
  return /^[\w.,:@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
