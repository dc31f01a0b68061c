import { readFileSync } from 'node:fs';
import { decode } from '../config/properties-file.ts';
import { ConfigError, toError } from '../errors.ts';
import { parseJaas, type JaasConfig } from './jaas.ts';

/** The path in `-Djava.security.auth.login.config=` of JVM options such as `KAFKA_OPTS`. */
export function jaasFileOf(javaOptions: string | undefined): string | undefined {
  const [, quoted, plain] = /-Djava\.security\.auth\.login\.config=(?:"([^"]+)"|(\S+))/.exec(javaOptions ?? '') ?? [];
  return quoted ?? plain;
}

/** The first login module of a context; `undefined` if the file does not contain the context. */
export function loginModule(jaasFile: string, context: 'KafkaClient' | 'KafkaConnect'): JaasConfig | undefined {
  const text = withoutComments(read(jaasFile));
  const begin = new RegExp(`(?:^|[\\s;])${context}\\s*\\{`).exec(text);
  return begin === null ? undefined : parseJaas(text.slice(begin.index + begin[0].length), jaasFile);
}

/** Removes block comments and lines that start with `//` or `#`. */
function withoutComments(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const line = !text.includes('\n', at) ? text.length : text.indexOf('\n', at) + 1;
    const block = text.slice(at, line).indexOf('/*');
    if (/^\s*(?:\/\/|#)/.test(text.slice(at, line))) {
      at = line;
    } else if (block < 0) {
      kept += text.slice(at, line);
      at = line;
    } else {
      const close = text.indexOf('*/', at + block + 2);
      if (close < 0) return kept + text.slice(at);
      kept += text.slice(at, at + block);
      at = close + 2;
    }
  }
  return kept;
}

function read(path: string): string {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    throw new ConfigError(`The JAAS file cannot be read: ${toError(error).message}`);
  }
}
