import { declareOptions } from '../config/option.ts';
import { decodeUtf8 } from '../java/charset.ts';
import { CONNECT_VERSION } from '../version.ts';
import type { HeaderConverter, HeaderConverterPlugin } from '../connect/api.ts';
import { parseHeaderText } from './header-literals.ts';
import { headerText } from './header-text.ts';

/** org.apache.kafka.connect.storage.SimpleHeaderConverter. Headers are text; types are inferred when a header is read. */
const simpleHeaderConverter: HeaderConverter = {
  fromConnectHeader(_topic, _key, schema, value) {
    return value === null ? null : Buffer.from(headerText(value, schema), 'utf8');
  },
  toConnectHeader(_topic, _key, bytes) {
    return bytes === null ? { schema: null, value: null } : parseHeaderText(decodeUtf8(bytes));
  },
};

export const simpleHeaderConverterPlugin: HeaderConverterPlugin = {
  className: 'org.apache.kafka.connect.storage.SimpleHeaderConverter',
  version: CONNECT_VERSION,
  options: declareOptions({}),
  type: 'header_converter',
  create: () => simpleHeaderConverter,
};
