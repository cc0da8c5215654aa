import java.util.ArrayList;
import java.util.List;
import javax.persistence.CascadeType;
import javax.persistence.Column;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.OneToMany;
import javax.persistence.Table;

// snippet: model
@Entity
@Table(name = "author")
public class Author {
    @Id
    @GeneratedValue(generator = "snowflake")
    @Column(columnDefinition = "bigint DEFAULT next_snowflake()") // for programs that write SQL
    long id;

    @Column(nullable = false)
    String name;

    @OneToMany(mappedBy = "author", cascade = CascadeType.PERSIST)
    List<Book> books = new ArrayList<>();
    // snippet: end

    protected Author() {}

    Author(String name) {
        this.name = name;
    }
}
