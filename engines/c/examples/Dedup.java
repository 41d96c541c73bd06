// Writes the first URL of each group of equivalent ones, by the foreign functions of Java 22 and later:
// java --enable-native-access=ALL-UNNAMED -Duriscan.library=target/release/liburiscan_c.so Dedup.java < urls.txt

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

public class Dedup {
    static final int OK = 0;
    static final byte NEW = 0;

    static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(Path.of(System.getProperty("uriscan.library")), Arena.global());

    /** A function of uriscan.h that returns a status. A size_t is a long, as on every 64-bit system. */
    static MethodHandle function(String name, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    static MethodHandle handle(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(LIBRARY.find(name).orElseThrow(), type);
    }

    static final MethodHandle ERROR_NEW = handle("uriscan_error_new", FunctionDescriptor.of(ADDRESS));
    static final MethodHandle ERROR_FREE = handle("uriscan_error_free", FunctionDescriptor.ofVoid(ADDRESS));
    static final MethodHandle ERROR_TEXT = function("uriscan_error_text", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle EQUIVALENCE_NEW = function("uriscan_equivalence_new", ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
    static final MethodHandle EQUIVALENCE_FREE = handle("uriscan_equivalence_free", FunctionDescriptor.ofVoid(ADDRESS));
    static final MethodHandle SET_NEW = function("uriscan_set_new", ADDRESS, ADDRESS, ADDRESS);
    static final MethodHandle SET_INSERT = function("uriscan_set_insert", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
    static final MethodHandle SET_FREE = handle("uriscan_set_free", FunctionDescriptor.ofVoid(ADDRESS));

    /** Throws if a call failed. */
    static void check(int status, MemorySegment error, Arena arena) throws Throwable {
        if (status == OK) return;
        MemorySegment buffer = arena.allocate(1024), length = arena.allocate(JAVA_LONG);
        boolean fits = (int) ERROR_TEXT.invokeExact(error, buffer, 1024L, length) == OK;
        byte[] text = buffer.asSlice(0, fits ? length.get(JAVA_LONG, 0) : 0).toArray(JAVA_BYTE);
        throw new IllegalStateException("code " + status + ": " + new String(text, StandardCharsets.UTF_8));
    }

    /** The next line without its end, or null after the last one. */
    static byte[] line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int c = in.read();
        if (c < 0) return null;
        for (; c >= 0 && c != '\n'; c = in.read()) line.write(c);
        return line.toByteArray();
    }

    public static void main(String[] args) throws Throwable {
        try (Arena arena = Arena.ofConfined(); OutputStream out = new BufferedOutputStream(System.out)) {
            MemorySegment error = (MemorySegment) ERROR_NEW.invokeExact();
            byte[] options = "preset=rfc\non_invalid=drop".getBytes(StandardCharsets.UTF_8);
            MemorySegment handle = arena.allocate(ADDRESS), text = arena.allocateFrom(JAVA_BYTE, options);
            check((int) EQUIVALENCE_NEW.invokeExact(text, (long) options.length, handle, error), error, arena);
            MemorySegment equivalence = handle.get(ADDRESS, 0);
            check((int) SET_NEW.invokeExact(equivalence, handle, error), error, arena);
            MemorySegment set = handle.get(ADDRESS, 0), result = arena.allocate(JAVA_BYTE);
            InputStream in = new BufferedInputStream(System.in);
            for (byte[] line = line(in); line != null; line = line(in)) {
                // Memory of the arena is freed at its end, so one buffer takes every line.
                if (line.length > text.byteSize()) text = arena.allocate(2L * line.length);
                MemorySegment.copy(line, 0, text, JAVA_BYTE, 0, line.length);
                check((int) SET_INSERT.invokeExact(set, text, (long) line.length, result, error), error, arena);
                if (result.get(JAVA_BYTE, 0) == NEW) {
                    out.write(line);
                    out.write('\n');
                }
            }
            SET_FREE.invokeExact(set);
            EQUIVALENCE_FREE.invokeExact(equivalence);
            ERROR_FREE.invokeExact(error);
        }
    }
}
