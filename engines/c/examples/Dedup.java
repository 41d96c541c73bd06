// Writes the first URL of each group of equivalent ones, by JNA: java -cp jna.jar -Djna.library.path=DIRECTORY Dedup.java < urls.txt

import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.ByteByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.BufferedInputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

public class Dedup {
    /** Of uriscan.h what is used here. NativeLong is as wide as size_t wherever long is; on Windows, write a type for it. */
    interface Uriscan extends Library {
        int OK = 0;
        byte NEW = 0;

        Pointer uriscan_error_new();
        void uriscan_error_free(Pointer error);
        int uriscan_error_text(Pointer error, Pointer buffer, NativeLong capacity, Pointer length);
        int uriscan_equivalence_new(byte[] options, NativeLong length, PointerByReference equivalence, Pointer error);
        void uriscan_equivalence_free(Pointer equivalence);
        int uriscan_set_new(Pointer equivalence, PointerByReference set, Pointer error);
        int uriscan_set_insert(Pointer set, byte[] text, NativeLong length, ByteByReference result, Pointer error);
        void uriscan_set_free(Pointer set);
    }

    static final Uriscan C = Native.load("uriscan_c", Uriscan.class);
    static final Pointer error = C.uriscan_error_new();

    /** Throws if a call failed. */
    static void check(int status) {
        if (status == Uriscan.OK) return;
        Memory buffer = new Memory(1024), length = new Memory(NativeLong.SIZE);
        boolean fits = C.uriscan_error_text(error, buffer, new NativeLong(1024), length) == Uriscan.OK;
        int size = fits ? length.getNativeLong(0).intValue() : 0;
        throw new IllegalStateException("code " + status + ": " + new String(buffer.getByteArray(0, size), StandardCharsets.UTF_8));
    }

    /** The next line without its end, or null after the last one. */
    static byte[] line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int c = in.read();
        if (c < 0) return null;
        for (; c >= 0 && c != '\n'; c = in.read()) line.write(c);
        return line.toByteArray();
    }

    public static void main(String[] args) throws IOException {
        byte[] options = "preset=rfc\non_invalid=drop".getBytes(StandardCharsets.UTF_8);
        PointerByReference handle = new PointerByReference();
        check(C.uriscan_equivalence_new(options, new NativeLong(options.length), handle, error));
        Pointer equivalence = handle.getValue();
        check(C.uriscan_set_new(equivalence, handle, error));
        Pointer set = handle.getValue();
        InputStream in = new BufferedInputStream(System.in);
        try (OutputStream out = new BufferedOutputStream(System.out)) {
            ByteByReference result = new ByteByReference();
            for (byte[] line = line(in); line != null; line = line(in)) {
                check(C.uriscan_set_insert(set, line, new NativeLong(line.length), result, error));
                if (result.getValue() == Uriscan.NEW) {
                    out.write(line);
                    out.write('\n');
                }
            }
        } finally {
            C.uriscan_set_free(set);
            C.uriscan_equivalence_free(equivalence);
            C.uriscan_error_free(error);
        }
    }
}
