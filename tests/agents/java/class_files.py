# SPDX-License-Identifier: MIT
"""What class files ask of the JDK, and what a JDK of a version has: by the signatures that javac has for --release."""
import os
import shutil
import struct
import zipfile

# Sizes of constants by their tags: Java Virtual Machine Specification, table 4.4-A. A text has its length in front.
TEXT, INTEGER, FLOAT, LONG, DOUBLE, CLASS, STRING, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
SIZES = {INTEGER: 4, FLOAT: 4, LONG: 8, DOUBLE: 8, CLASS: 2, STRING: 2, FIELD: 4, METHOD: 4, INTERFACE_METHOD: 4, NAME_AND_TYPE: 4,
         15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
OF_THE_JDK = ('java/', 'javax/', 'jdk/', 'sun/', 'com/sun/')


class ClassFile:
    """`version` is the major one, `members` are (name, descriptor) of fields and methods, `used` are (class, name, descriptor) of
    other classes, with "" for the class itself, `above` are the superclass and the interfaces."""

    def __init__(self, content):
        self.content, self.constants = content, {}
        self.version, count = struct.unpack_from('>HH', content, 6)
        self.at, number = 10, 1
        while number < count:
            number += self.read_constant(number)
        _, _, above = self.take('HHH')
        self.above = [self.class_name(one) for one in (above, *self.take('H' * self.take('H')[0])) if one]
        self.members = {member for _ in 'fm' for member in self.read_members()}
        self.used = {use for constant in self.constants.values() for use in self.find_uses(constant)}

    def take(self, kinds):
        values = struct.unpack_from('>' + kinds, self.content, self.at)
        self.at += struct.calcsize('>' + kinds)
        return values

    def read_constant(self, number):
        """Return how many numbers it has."""
        tag, = self.take('B')
        if tag == TEXT:
            size, = self.take('H')
            self.constants[number] = TEXT, self.content[self.at:self.at + size].decode(errors='replace')
        else:
            size = SIZES[tag]
            self.constants[number] = tag, self.content[self.at:self.at + size]
        self.at += size
        return 2 if tag in (LONG, DOUBLE) else 1

    def read_members(self):
        for _ in range(self.take('H')[0]):
            _, name, descriptor, attributes = self.take('HHHH')
            for _ in range(attributes):
                _, size = self.take('HI')
                self.at += size
            yield self.constants[name][1], self.constants[descriptor][1]

    def class_name(self, number):
        return self.constants[struct.unpack('>H', self.constants[number][1])[0]][1]

    def find_uses(self, constant):
        tag, value = constant
        if tag == CLASS:
            yield self.constants[struct.unpack('>H', value)[0]][1], '', ''
        elif tag in (FIELD, METHOD, INTERFACE_METHOD):
            of, both = struct.unpack('>HH', value)
            name, descriptor = struct.unpack('>HH', self.constants[both][1])
            yield self.class_name(of), self.constants[name][1], self.constants[descriptor][1]


class Jdk:
    """The public classes of a version, by the javac of this machine."""

    def __init__(self, version):
        home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which('javac'))))
        self.signatures = zipfile.ZipFile(os.path.join(home, 'lib', 'ct.sym'))
        # VERSIONS/MODULE/CLASS.sig; VERSIONS are base-36 digits of those that have the class in this form.
        parts = [(name, *name.split('/', 2)) for name in self.signatures.namelist() if name.endswith('.sig')]
        self.paths = {name[:-len('.sig')]: path for path, versions, _, name in parts if '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'[version] in versions}
        self.classes = {}

    def find(self, name):
        """None: it has no such class."""
        if name not in self.classes:
            path = self.paths.get(name)
            self.classes[name] = ClassFile(self.signatures.read(path)) if path else None
        return self.classes[name]

    def has(self, name, member):
        found = self.find(name)
        return found is not None and (not member[0] or member in found.members or any(self.has(above, member) for above in found.above))

    def find_missing(self, used):
        """Return what it lacks of (class, name, descriptor), as texts."""
        missing = set()
        for name, *member in used:
            if name.startswith('['):  # arrays have the methods of Object
                name = name.strip('[')[1:].rstrip(';')
                member = '', ''
            if name.startswith(OF_THE_JDK) and not self.has(name, tuple(member)):
                missing.add(' '.join([name, *member]).strip())
        return missing
